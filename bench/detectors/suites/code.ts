/**
 * `python_code`, `javascript_code`, `shell_code`, `sql_code`, and what others offer for code. Kinds differ from package to
 * package, so any finding at the place of a construct is right. Peers get what stands in a fence of Markdown, not the prose.
 */

import { type Construct, javascriptCode, pythonCode, shellCode, sqlCode } from '@cordon/detectors/parts';
import type { Label } from '../labelled.ts';
import { peerModule } from '../peers.ts';
import type { Find, Peer, Suite } from '../suite.ts';

/** As rules do when they are given no other. */
const THRESHOLD = 0.5;

function suite(
  detector: string,
  read: (text: string) => { readonly constructs: readonly Construct[] },
  peers: readonly Peer[],
): Suite {
  return {
    detector,
    judged: 'ranges',
    rows: [{ name: 'all kinds', kinds: null, aim: { recall: 0.95, precision: 0.95 } }],
    find: (text) => read(text).constructs.filter(({ confidence }) => confidence >= THRESHOLD),
    peers,
    speedAim: null,
  };
}

/** The code of a text, and where it begins. */
function codeOf(text: string): { readonly code: string; readonly offset: number } {
  const fence = /^```\w+\n/m.exec(text);
  if (fence === null) return { code: text, offset: 0 };
  const offset = fence.index + fence[0].length;
  const end = text.indexOf('\n```', offset);
  return { code: text.slice(offset, end < 0 ? text.length : end), offset };
}

/** Lines from 1, columns from 0. */
function offsetAt(code: string, line: number, column: number): number {
  const lines = code.split('\n').slice(0, line - 1);
  return Math.min(code.length, lines.join('\n').length + (line > 1 ? 1 : 0) + column);
}

interface JsXRay {
  readonly AstAnalyser: new () => {
    analyse(code: string): {
      readonly warnings: readonly {
        readonly kind: string;
        readonly location?: readonly unknown[];
      }[];
    };
  };
}

async function jsXRay(): Promise<Find | null> {
  const module = await peerModule<JsXRay>('@nodesecure/js-x-ray');
  if (module === null) return null;
  const analyser = new module.AstAnalyser();
  return (text) => {
    const { code, offset } = codeOf(text);
    const whole = { start: offset, end: offset + code.length };
    try {
      return analyser
        .analyse(code)
        .warnings.map(
          ({ kind, location }): Label => ({ kind, ...(stretchOf(code, offset, location) ?? whole) }),
        );
    } catch {
      return [{ kind: 'parsing-error', ...whole }];
    }
  };
}

/** `[[line, column], [line, column]]`, or a list of these. */
function stretchOf(code: string, offset: number, location: unknown): { start: number; end: number } | null {
  const pair: unknown = Array.isArray(location) && Array.isArray(location[0]?.[0]) ? location[0] : location;
  const [from, to]: readonly unknown[] = Array.isArray(pair) ? pair : [];
  if (!Array.isArray(from) || !Array.isArray(to)) return null;
  const start = offset + offsetAt(code, Number(from[0]), Number(from[1]));
  return { start, end: Math.max(start + 1, offset + offsetAt(code, Number(to[0]), Number(to[1]))) };
}

interface Eslint {
  readonly Linter: new () => {
    verify(
      code: string,
      config: readonly object[],
    ): readonly {
      readonly ruleId: string | null;
      readonly line: number;
      readonly column: number;
      readonly endLine?: number;
      readonly endColumn?: number;
    }[];
  };
}

async function eslintSecurity(): Promise<Find | null> {
  const eslint = await peerModule<Eslint>('eslint');
  const plugin = await peerModule<{
    readonly default: { readonly configs: { readonly recommended: object } };
  }>('eslint-plugin-security');
  if (eslint === null || plugin === null) return null;
  const linter = new eslint.Linter();
  return (text) => {
    const { code, offset } = codeOf(text);
    return linter
      .verify(code, [plugin.default.configs.recommended])
      .map(({ ruleId, line, column, endLine, endColumn }) => {
        const start = offset + offsetAt(code, line, column - 1);
        const end =
          endLine === undefined ? start + 1 : offset + offsetAt(code, endLine, (endColumn ?? 1) - 1);
        return { kind: ruleId ?? 'parsing-error', start, end: Math.max(start + 1, end) };
      });
  };
}

interface SafetyNet {
  checkCommand(input: { command: string; cwd: string }): { readonly kind: 'allow' | 'deny' };
}

/** It judges a command as a whole, so that is its range; in a folder that is not there it refuses everything. */
async function safetyNet(): Promise<Find | null> {
  const module = await peerModule<SafetyNet>('cc-safety-net/api');
  if (module === null) return null;
  return (text) => {
    const { code, offset } = codeOf(text);
    const { kind } = module.checkCommand({ command: code, cwd: import.meta.dirname });
    return kind === 'deny' ? [{ kind, start: offset, end: offset + code.length }] : [];
  };
}

export const CODE_SUITES: readonly Suite[] = [
  suite('python_code', pythonCode, []),
  suite('javascript_code', javascriptCode, [
    { name: '`@nodesecure/js-x-ray` 16.0.0', rows: null, load: jsXRay },
    { name: '`eslint-plugin-security` 4.1.0', rows: null, load: eslintSecurity },
  ]),
  suite('shell_code', shellCode, [{ name: '`cc-safety-net` 2.4.5', rows: null, load: safetyNet }]),
  suite('sql_code', sqlCode, []),
];
