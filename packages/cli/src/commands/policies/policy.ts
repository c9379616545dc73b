/** `cordon policy show`: which policies are in force, which rules they have, from where, and what each stops. */

import type { Configuration } from '@cordon/config';
import { BASE_PACK, PACKS, type Pack } from '@cordon/config/packs';
import { visibleLine } from '@cordon/core';
import type { Policy } from '@cordon/policy';
import { counted, jsonLine } from '@cordon/print';
import { readEachPolicy } from '@cordon/runtime/policies';
import type { CommandContext } from '../../context/command-context.ts';
import { EXIT, type ExitCode } from '../../context/exit.ts';

interface ShownPolicy {
  /** Null: a file of the user. */
  readonly pack: Pack | null;
  readonly policy: Policy;
}

const EFFECTS = { raise: 'denies', ask: 'asks', warn: 'warns' } as const;

export interface PolicyOptions {
  /** What each policy stops, without its rules. */
  readonly isBrief?: boolean;
}

/** 0: printed; 2: the configuration or a policy cannot be used. Starts no app, and asks no question. */
export function showPolicy(context: CommandContext, { isBrief = false }: PolicyOptions = {}): ExitCode {
  const configuration = context.configurationInEffect();
  if (configuration === null) return EXIT.failed;
  const each = readEachPolicy({ packs: configuration.packs, files: configuration.policyFiles });
  if (!each.ok) {
    context.noteDiagnostics(each.fault);
    return EXIT.failed;
  }
  const packs = [
    BASE_PACK,
    ...configuration.packs.flatMap((name) => PACKS.filter((pack) => pack.name === name)),
  ];
  const shown = each.value.map((policy, index): ShownPolicy => ({ pack: packs[index] ?? null, policy }));
  const left = PACKS.filter(({ name }) => !configuration.packs.includes(name));
  if (context.wantsJson) printJson(shown, left);
  else if (isBrief) renderBriefly(context, shown, left);
  else render(context, configuration, shown, left);
  return EXIT.done;
}

function printJson(shown: readonly ShownPolicy[], left: readonly Pack[]): void {
  for (const { pack, policy } of shown) {
    const rules = policy.rules.map(({ id, effect, staticMessage, source, span }) => ({
      rule: id,
      effect,
      message: staticMessage,
      line: source.range(span).line,
    }));
    const { file } = policy.source;
    process.stdout.write(
      jsonLine({ kind: 'policy', pack: pack?.name ?? null, stops: pack?.stops ?? null, file, rules }),
    );
  }
  for (const { name, stops } of left)
    process.stdout.write(jsonLine({ kind: 'policy.left-out', pack: name, stops }));
}

function renderBriefly(
  { output, notes }: CommandContext,
  shown: readonly ShownPolicy[],
  left: readonly Pack[],
): void {
  for (const { pack, policy } of shown) {
    if (pack === null)
      output.say('your file: ', `${policy.source.file}, ${counted(policy.rules.length, 'rule')}`);
    else output.say(`${pack.name}: `, `stops ${pack.stops}`);
  }
  for (const { name, stops } of left) output.say(`not in force, ${name}: `, `would stop ${stops}`, 'dim');
  notes.say('', '`cordon policy show` lists the rules', 'dim');
}

function render(
  { output }: CommandContext,
  { file }: Configuration,
  shown: readonly ShownPolicy[],
  left: readonly Pack[],
): void {
  const from = file === null ? 'the default set, because there is no configuration' : visibleLine(file);
  output.say('packs: ', from, 'dim');
  for (const { pack, policy } of shown) {
    output.line();
    output.line(output.style('bold', pack === null ? 'your file' : pack.name));
    if (pack !== null) output.say('  stops ', pack.stops);
    output.say('  from ', policy.source.file, 'dim');
    for (const { id, effect, staticMessage } of policy.rules)
      output.say(`  ${EFFECTS[effect].padEnd(6)} `, `${staticMessage} (${id})`, 'plain', 9);
  }
  if (left.length === 0) return;
  output.line();
  output.line(output.style('bold', 'not in force'));
  for (const { name, stops } of left) output.say(`  ${name}: `, `stops ${stops}`, 'dim', 4);
}
