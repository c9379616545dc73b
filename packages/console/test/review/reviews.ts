/** Apps to review, and what is drawn of them. */
import { type InstalledApp, id, type Json, SILENT_MANIFEST } from '@cordon/core';
import type { AppDescription, Review } from '@cordon/hub';
import { scannedDescription } from '@cordon/scan/description';
import { drawReview, type drawWhole } from '../../src/review/review.ts';
import { scriptedTerminal } from '../scripted-terminal.ts';

export const MAIL: InstalledApp = {
  id: id('mail'),
  source: { kind: 'command', command: 'node', args: [], env: {}, cwd: null },
  model: null,
  manifest: SILENT_MANIFEST,
};

export function saying(
  description: string,
  more: Partial<AppDescription['tools'][number]> = {},
): AppDescription {
  const tool = { name: 'send', title: null, input: { type: 'object' }, output: null, annotations: null };
  return { instructions: '', tools: [{ ...tool, description, ...more }] };
}

export function review(description: AppDescription, more: Partial<Review> = {}): Review {
  const configured: Json = { command: 'node' };
  return { app: MAIL, configured, description, digest: 'sha256:02', before: null, stopped: null, ...more };
}

export const before = (description: AppDescription, configured: Json = { command: 'node' }) => ({
  configured,
  description,
  digest: 'sha256:01',
  at: Date.UTC(2026, 0, 2),
});

/** As above a question of one line. */
const drawQuestion: typeof drawWhole = (screen, what, findings) => drawReview(screen, what, findings, 1);

/** As it is drawn before the question, or with every text. */
export function shownOf(
  what: Review,
  draw: typeof drawWhole = drawQuestion,
  columns = 80,
): readonly string[] {
  const scripted = scriptedTerminal({ columns });
  const apps = [{ id: id<'app'>('drive'), tools: ['search'] }];
  draw(scripted.screen, what, scannedDescription(what.description, what.app.id, apps));
  return scripted.shown().split('\n');
}
