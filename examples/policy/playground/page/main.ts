/**
 * The playground: what stands in the three fields is loaded, analysed and decided as one types. Everything happens in
 * this page; nothing is sent anywhere.
 */
import { isJsonObject, type JsonObject, parseJson } from '@cordon/core';
import { loadPolicy, type Policy, type TraceEvent } from '@cordon/policy';
import {
  type Analysis,
  analyzeEvents,
  ExplainingMonitor,
  format,
  lint,
  readTrace,
} from '@cordon/policy-tools';
import { decideAll, decisionList, OpenReasons } from './decisions.ts';
import { diagnosticList, diagnosticMarks } from './diagnostics.ts';
import { Editor, type Mark } from './editor.ts';
import { element, part, visible } from './element.ts';
import { findingList } from './findings.ts';
import { JsonPlaces } from './json-places.ts';

/** UTF-16 units of a field: enough for a try, and small enough to be looked at after every key. */
const MAX_TEXT = 200_000;
const TRACE_LIMITS = { length: MAX_TEXT, depth: 220, elements: 100_000 };
/** Milliseconds without a key. */
const PAUSE = 120;

interface Case {
  readonly name: string;
  readonly title: string;
  readonly parameters: JsonObject;
}

const policyField = new Editor(area('policy'), later);
const traceField = new Editor(area('trace'), later);
const parameterField = area('parameters');
const consentField = input('consent');
const caseField = select('case');

const openReasons = new OpenReasons();
let chosen: number | null = null;
let timer: number | undefined;

function area(id: string): HTMLTextAreaElement {
  const found = part(id);
  if (!(found instanceof HTMLTextAreaElement)) throw new Error(id);
  return found;
}

function input(id: string): HTMLInputElement {
  const found = part(id);
  if (!(found instanceof HTMLInputElement)) throw new Error(id);
  return found;
}

function select(id: string): HTMLSelectElement {
  const found = part(id);
  if (!(found instanceof HTMLSelectElement)) throw new Error(id);
  return found;
}

function later(): void {
  chosen = null;
  clearTimeout(timer);
  timer = setTimeout(update, PAUSE);
}

// ── from the fields to what is shown ──────────────────────────────────────────────────────────────────────────

function update(): void {
  const policy = loadedPolicy();
  const events = eventsOfTrace();
  const parameters = parsedParameters();
  if (policy !== null && events !== null && parameters !== null)
    return showResults(policy, events, parameters);
  const why = 'Nothing is shown until the policy, the trace and the parameters can be read.';
  for (const id of ['findings', 'decisions']) part(id).replaceChildren(element('p', { class: 'empty' }, why));
  for (const id of ['finding-count', 'decision-count']) say(id, '');
}

function loadedPolicy(): Policy | null {
  const { text } = policyField;
  if (text.length > MAX_TEXT) {
    say('policy-state', `longer than ${MAX_TEXT} characters`);
    return null;
  }
  const loaded = loadPolicy(text);
  const found = loaded.ok
    ? [...loaded.value.warnings, ...lint(loaded.value)].toSorted(byPlace)
    : loaded.fault;
  policyField.mark(diagnosticMarks(found, policyField));
  part('diagnostics').replaceChildren(...(found.length === 0 ? [] : [diagnosticList(found, policyField)]));
  const errors = found.filter(({ severity }) => severity === 'error').length;
  const warnings = found.length - errors;
  const rules = loaded.ok ? `${counted(loaded.value.rules.length, 'rule')}, ` : '';
  const problems = [
    ...(errors > 0 ? [counted(errors, 'error')] : []),
    ...(warnings > 0 ? [counted(warnings, 'warning')] : []),
  ];
  say('policy-state', `${rules}${problems.join(', ') || 'no problems'}`);
  return loaded.ok ? loaded.value : null;
}

interface Placed {
  readonly range?: { readonly line: number; readonly column: number };
}

function byPlace({ range: a }: Placed, { range: b }: Placed): number {
  return (a?.line ?? 0) - (b?.line ?? 0) || (a?.column ?? 0) - (b?.column ?? 0);
}

/** Null: it cannot be read, and the field says why. */
function eventsOfTrace(): readonly TraceEvent[] | null {
  const { text } = traceField;
  const parsed = parseJson(text, TRACE_LIMITS);
  if (!parsed.ok) {
    const place = /position (\d+)/.exec(parsed.fault);
    const start = place === null ? text.length - 1 : Number(place[1]);
    return refuseTrace(`no JSON: ${parsed.fault}`, { start, end: start + 1 });
  }
  const read = readTrace(parsed.value);
  if (!read.ok) {
    const { path, message } = read.fault;
    return refuseTrace(`no trace: ${path} ${message}`, new JsonPlaces(text).find(path));
  }
  const { events, format: form } = read.value;
  traceField.mark([]);
  say('trace-state', `${counted(events.length, 'event')}, read as ${form}`);
  return events;
}

function refuseTrace(why: string, place: Pick<Mark, 'start' | 'end'> | null): null {
  traceField.mark(place === null ? [] : [{ start: place.start, end: place.end, kind: 'error', title: why }]);
  say('trace-state', visible(why, 200));
  return null;
}

function parsedParameters(): JsonObject | null {
  const parsed = parseJson(parameterField.value.trim() === '' ? '{}' : parameterField.value);
  const parameters = parsed.ok && isJsonObject(parsed.value) ? parsed.value : null;
  parameterField.setAttribute('aria-invalid', String(parameters === null));
  say('parameter-state', parameters === null ? 'a JSON object, e.g. {"owner": "me@example.org"}' : '');
  return parameters;
}

function showResults(policy: Policy, events: readonly TraceEvent[], parameters: JsonObject): void {
  const analysis = analyzeEvents(policy, events, parameters);
  showFindings(analysis);
  const decided = decideAll(
    new ExplainingMonitor(policy, parameters),
    events,
    consentField.checked ? 'given' : 'not-needed',
  );
  part('decisions').replaceChildren(decisionList(decided, showPath, openReasons));
  const stopped = decided.filter(({ decision }) => decision.verdict !== 'allow').length;
  say('decision-count', `${decided.length - stopped} allowed, ${stopped} not`);
}

function showFindings(analysis: Analysis): void {
  const choose = (index: number): void => {
    chosen = chosen === index ? null : index;
    showFindings(analysis);
    const presser = part('findings').querySelectorAll<HTMLElement>('button.choose')[index];
    presser?.focus();
    const [first] = chosen === null ? [] : (analysis.errors[chosen]?.ranges ?? []);
    if (first !== undefined) revealPath(first);
  };
  const { errors, undecided } = analysis;
  part('findings').replaceChildren(
    errors.length + undecided.length === 0
      ? element('p', { class: 'empty' }, 'No rule finds anything in this trace.')
      : findingList(analysis, chosen, choose, showPath),
  );
  say('finding-count', `${counted(errors.length, 'finding')}, ${undecided.length} undecided`);
  traceField.mark(rangeMarks(analysis));
}

/** The characters that all findings are about, and everything that the chosen one is about. */
function rangeMarks({ errors }: Analysis): readonly Mark[] {
  const places = new JsonPlaces(traceField.text);
  const marks: Mark[] = [];
  for (const [index, { ranges, rule, message }] of errors.entries()) {
    const isChosen = index === chosen;
    for (const range of ranges.slice(0, 100)) {
      if (marks.length >= 400) return marks;
      const place = places.find(range);
      if (place === null || !(place.isPrecise || isChosen)) continue;
      const kind = !isChosen ? 'range' : place.isPrecise ? 'chosen' : 'chosen-whole';
      marks.push({ start: place.start, end: place.end, kind, title: `${rule}: ${message}` });
    }
  }
  return marks;
}

/** Selects a place in the trace. */
function showPath(path: string): void {
  const place = new JsonPlaces(traceField.text).find(path);
  if (place !== null) traceField.select(place.start, place.end);
}

function revealPath(path: string): void {
  const place = new JsonPlaces(traceField.text).find(path);
  if (place !== null) traceField.reveal(place.start);
}

function say(id: string, text: string): void {
  const place = part(id);
  if (place.textContent !== text) place.textContent = text;
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

// ── the cases to begin with ───────────────────────────────────────────────────────────────────────────────────

async function textAt(address: string): Promise<string> {
  const response = await fetch(address);
  if (!response.ok) throw new Error(`${address}: ${response.status}`);
  return response.text();
}

async function load({ name, parameters }: Case): Promise<void> {
  const [policy, trace] = await Promise.all([textAt(`/cases/${name}.gr`), textAt(`/cases/${name}.json`)]);
  chosen = null;
  openReasons.forget();
  policyField.text = policy;
  traceField.text = trace;
  parameterField.value = JSON.stringify(parameters);
  update();
}

const cases: readonly Case[] = JSON.parse(await textAt('/cases/index.json'));
caseField.replaceChildren(
  ...cases.map(({ name, title }) => Object.assign(element('option', {}, title), { value: name })),
);
caseField.addEventListener('change', async () => {
  const found = cases.find(({ name }) => name === caseField.value);
  if (found !== undefined) await load(found);
});
parameterField.addEventListener('input', later);
consentField.addEventListener('change', update);
part('format').addEventListener('click', () => {
  const formatted = format(policyField.text);
  if (!formatted.ok) return;
  policyField.text = formatted.value;
  update();
});
const [first] = cases;
if (first !== undefined) await load(first);
document.documentElement.dataset.state = 'ready';
