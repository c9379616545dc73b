/**
 * `cordon init`: proposes labels for the tools of the installed apps, with the reason for each, and writes into
 * `cordon.json` what the user says yes to. Starts no app: it reads what was agreed to when the apps were reviewed.
 */

import { agreementToChange, type Configuration } from '@cordon/config';
import { parseJsonFile, readTextFile } from '@cordon/config/reading';
import { failed, fault, ok, type Result, type ToolLabelEntry } from '@cordon/core';
import type { AppDescription } from '@cordon/hub';
import type { CommandContext } from '../../context/command-context.ts';
import { confirmed } from '../../context/confirmation.ts';
import { EXIT, type ExitCode } from '../../context/exit.ts';
import { replaceTextFile } from '../replaced-file.ts';
import { agreedDescriptions } from './apps.ts';
import { type LabelProposal, type ProposedTool, proposeLabels } from './label-proposal.ts';

export interface InitOptions {
  /** Also where no person can be asked. */
  readonly yes?: boolean;
}

interface AppProposal {
  readonly app: string;
  readonly tools: readonly LabelProposal[];
}

/** 0: written, or nothing to propose; 1: the user said no to all; 2: the configuration cannot be used. */
export async function init(context: CommandContext, options: InitOptions): Promise<ExitCode> {
  const configuration = context.configuration();
  if (configuration === null) return EXIT.failed;
  const proposals = proposalsFor(context, configuration);
  if (context.wantsJson) {
    for (const proposal of proposals) context.json({ kind: 'labels.proposed', ...proposal });
    return EXIT.done;
  }
  if (proposals.length === 0) {
    context.output.say('', 'there is nothing to propose: every app that was reviewed has its labels');
    return EXIT.done;
  }
  const agreed: AppProposal[] = [];
  for (const proposal of proposals) {
    draw(context, proposal);
    const question = `Use these labels for \`${proposal.app}\`? What is marked as looser is asked about less.`;
    if (await confirmed(context, question, options.yes === true, 'nothing was written'))
      agreed.push(proposal);
  }
  if (agreed.length === 0) return EXIT.refused;
  return write(context, configuration, agreed);
}

/** Of apps that were reviewed and whose tools no label speaks of yet. */
function proposalsFor(context: CommandContext, configuration: Configuration): readonly AppProposal[] {
  const descriptions = agreedDescriptions(configuration, context.now);
  return configuration.apps.flatMap(({ id, source, manifest }) => {
    const described = descriptions.get(id) ?? null;
    if (source.kind === 'instructions' || described === null) {
      if (described === null && source.kind !== 'instructions')
        context.notes.say(`${id}: `, 'was not reviewed yet: `cordon apps review` shows its tools', 'dim');
      return [];
    }
    const labels = manifest.labels ?? [];
    const open = described.tools.filter(({ name }) => !labels.some((entry) => speaksOf(entry, name)));
    const tools = proposeLabels(manifest, open.map(proposedTool)).filter(({ reasons }) => reasons.length > 0);
    return tools.length === 0 ? [] : [{ app: id, tools }];
  });
}

function speaksOf({ tool }: ToolLabelEntry, name: string): boolean {
  return tool === name;
}

function proposedTool({ name, input, annotations }: AppDescription['tools'][number]): ProposedTool {
  return {
    name,
    input,
    readOnlyHint: annotations?.readOnlyHint === true,
    destructiveHint: annotations?.destructiveHint === true,
    openWorldHint: annotations?.openWorldHint !== false,
  };
}

function draw({ output }: CommandContext, { app, tools }: AppProposal): void {
  output.line();
  output.line(output.style('bold', app));
  for (const { tool, says, reasons } of tools) {
    output.say(`  ${tool}: `, JSON.stringify(says), 'plain', 4);
    for (const reason of reasons) output.say('    ', reason, reason.startsWith('looser') ? 'warn' : 'dim', 3);
  }
}

function write(
  context: CommandContext,
  configuration: Configuration,
  agreed: readonly AppProposal[],
): ExitCode {
  const labels = Object.fromEntries(
    agreed.flatMap(({ app, tools }) =>
      tools.map(({ tool, says }): [string, unknown] => [`${app}/${tool}`, says]),
    ),
  );
  const { file } = configuration;
  const texts = file === null ? failed('there is no `cordon.json`') : withLabels(file, labels);
  if (!texts.ok || file === null) {
    context.output.line(`"labels": ${JSON.stringify({ tools: labels }, null, 2)}`);
    const help = 'what you agreed to stands above: put it into the file';
    const reason = texts.ok ? '' : texts.fault;
    return context.reportFault(fault('usage', `nothing was written: ${reason}`, help));
  }
  const replaced = replaceTextFile(file, texts.value.to);
  if (!replaced.ok) {
    context.noteDiagnostics([replaced.fault]);
    return EXIT.failed;
  }
  const unkept = agreementToChange(configuration, texts.value, context.now);
  if (unkept !== null) context.reportFault(unkept);
  context.output.say('', `${file} has labels for ${Object.keys(labels).length} tools`, 'good');
  return EXIT.done;
}

/** The file's text, and the same with the labels as its first key; comments and the rest stay as they are. */
function withLabels(
  file: string,
  labels: object,
): Result<{ readonly from: string; readonly to: string }, string> {
  const text = readTextFile(file);
  const tree = text.ok ? parseJsonFile(file, text.value) : text;
  if (!text.ok || !tree.ok || tree.value.kind !== 'object') return failed('the file cannot be read');
  if (tree.value.members.some(({ key }) => key === 'labels')) return failed('the file has `labels` already');
  const at = tree.value.span.start + 1;
  const section = JSON.stringify({ labels: { tools: labels } }, null, 2).slice(1, -2);
  const comma = tree.value.members.length === 0 ? '\n' : ',';
  const to = `${text.value.slice(0, at)}${section}${comma}${text.value.slice(at)}`;
  return ok({ from: text.value, to });
}
