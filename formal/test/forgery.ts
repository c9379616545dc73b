/**
 * Traces that no hub may ever leave behind: a recorded one with one thing changed. A model that accepts one of them would
 * accept anything.
 */
import { ANY, type Step, step } from '../src/label.ts';

export interface Forgery {
  readonly model: 'gate' | 'exchange';
  readonly name: string;
  /** Null: there is nothing in this trace to forge so. */
  readonly forge: (trace: readonly Step[]) => readonly Step[] | null;
}

type Test = (step: Step, at: number, trace: readonly Step[]) => boolean;

const is = (label: string, ...values: readonly (number | null)[]): Test => {
  return (one) =>
    one.label === label && values.every((value, index) => value === null || one.values[index] === value);
};

/** The step after `at` in which `label` is said of the same slot. */
function after(trace: readonly Step[], at: number, label: string): number {
  const [slot] = trace[at]?.values ?? [];
  const found = trace.findIndex((one, index) => index > at && one.values[0] === slot && ENDS.has(one.label));
  return trace[found]?.label === label ? found : -1;
}
const ENDS = new Set([
  'PROPOSED',
  'DECIDED',
  'EXECUTED',
  'FAILED',
  'RESUMED',
  'REQUESTED',
  'REQUEST_DECIDED',
  'RESPONSE_DECIDED',
  'DELIVERED',
]);

const without = (trace: readonly Step[], at: number) => trace.toSpliced(at, 1);
const replaced = (trace: readonly Step[], at: number, by: Step) => trace.toSpliced(at, 1, by);

/** Changes the first step for which `test` holds. */
function at(test: Test, change: (trace: readonly Step[], at: number) => readonly Step[]): Forgery['forge'] {
  return (trace) => {
    const found = trace.findIndex((one, index) => test(one, index, trace));
    return found < 0 ? null : change(trace, found);
  };
}

const carriedOut: Test = (one, index, trace) =>
  is('DECIDED', null, 1)(one, index, trace) && after(trace, index, 'EXECUTED') >= 0;
const delivered: Test = (one, index, trace) =>
  is('RESPONSE_DECIDED', null, 1)(one, index, trace) && after(trace, index, 'DELIVERED') >= 0;
/** Of a run that ended right behind its request nothing is left that would be to nothing. */
const decidedLater: Test = ({ label, values }, index, trace) =>
  label === 'REQUESTED' && trace.slice(index).some(is('REQUEST_DECIDED', values[1]));
/** A kill may leave a question without an answer, and a request without a response: nothing there is forged by a change. */
const answeredLater: Test = ({ label, values }, index, trace) =>
  label === 'ASKED' && trace.slice(index).some(is('ANSWERED', null, values[1]));
const respondedLater: Test = (one, index, trace) => {
  const [slot] = one.values;
  // A later request may take the slot of one that is over.
  const next = trace
    .slice(index + 1)
    .find((later) => is('RESPONDED', slot)(later, 0, []) || is('REQUESTED', null, slot)(later, 0, []));
  return is('REQUEST_DECIDED', null, 1)(one, index, trace) && next?.label === 'RESPONDED';
};
const denied = (trace: readonly Step[], index: number) =>
  replaced(trace, index, step(trace[index]?.label ?? '', trace[index]?.values[0] ?? 0, 0, 0));

const UNDOABLE = 2;
const PLAIN = 4;

/** What a recorded run would have been if the hub had been killed in the middle of a call that cannot be undone. */
export function killedInCall(
  trace: readonly Step[],
): { readonly trace: readonly Step[]; readonly tool: number } | null {
  const proposed = trace.findIndex(
    (one, index) =>
      one.label === 'PROPOSED' && (one.values[1] & UNDOABLE) !== 0 && after(trace, index, 'DECIDED') >= 0,
  );
  const decided = after(trace, proposed, 'DECIDED');
  const tool = trace[proposed]?.values[3] ?? 0;
  if (proposed < 0 || decided < 0 || trace[decided]?.values[1] !== 1) return null;
  const before = trace.slice(0, decided + 1);
  const others =
    before.filter(({ label }) => label === 'PROPOSED').length -
    before.filter(({ label }) => ENDINGS.has(label)).length;
  // Others that were under way would be in doubt too.
  return others > 1 ? null : { trace: [...before, step('RESUMED'), step('DOUBTED', tool, 1)], tool };
}
const ENDINGS = new Set(['EXECUTED', 'FAILED']);

export const FORGERIES: readonly Forgery[] = [
  { model: 'gate', name: 'an effect without a decision', forge: at(carriedOut, without) },
  { model: 'gate', name: 'an effect that was denied', forge: at(carriedOut, denied) },
  {
    model: 'gate',
    name: 'an effect that happened twice',
    forge: at(is('EXECUTED'), (trace, index) => trace.toSpliced(index, 0, trace[index] ?? step('END'))),
  },
  {
    model: 'gate',
    name: 'an effect that was carried out before it was decided',
    forge: at(carriedOut, (trace, index) => {
      const end = after(trace, index, 'EXECUTED');
      const effect = trace[end] ?? step('END');
      return without(trace, end).toSpliced(index, 0, effect);
    }),
  },
  { model: 'gate', name: 'a decision about nothing', forge: at(is('PROPOSED'), without) },
  { model: 'gate', name: 'a yes that nobody said', forge: at(is('ANSWERED', null, null, 1, 1), without) },
  {
    model: 'gate',
    name: 'a no that became a yes',
    forge: at(is('ANSWERED', null, null, 1, 1), (trace, index) =>
      replaced(trace, index, step('ANSWERED', ANY, trace[index]?.values[1] ?? 0, 0, 0)),
    ),
  },
  { model: 'gate', name: 'an answer to a question that was not asked', forge: at(answeredLater, without) },
  {
    model: 'gate',
    name: 'a permission for ever to do what cannot be undone',
    forge: at(
      (one, index, trace) => is('GIVEN', null, null, 2)(one, index, trace) && one.values[3] >= 128,
      (trace, index) => {
        const [context, grant, , question] = trace[index]?.values ?? [0, 0, 0, 0];
        const asked = trace.findLastIndex(
          (one, before) => before < index && one.label === 'ANSWERED' && one.values[1] === question,
        );
        const answered = replaced(trace, asked, step('ANSWERED', ANY, question, 1, 4));
        return replaced(answered, index, step('GIVEN', context, grant, 4, question));
      },
    ),
  },
  {
    model: 'gate',
    name: 'a permission for once that is used later',
    forge: (trace) => {
      const used = trace.findIndex(is('USED'));
      const given = trace.findIndex(
        (one) => one.label === 'GIVEN' && one.values[1] === trace[used]?.values[1] && one.values[2] !== 1,
      );
      const answered = trace.findLastIndex((one, index) => index < given && one.label === 'ANSWERED');
      if (used < 0 || given < 0 || answered < 0) return null;
      const [context, grant, , question] = trace[given]?.values ?? [0, 0, 0, 0];
      const once = replaced(trace, given, step('GIVEN', context, grant, 1, question));
      return replaced(once, answered, step('ANSWERED', ANY, question, 1, 1));
    },
  },
  {
    model: 'gate',
    name: 'a grant that nobody gave',
    forge: at(is('USED'), (trace, index) => {
      const grant = trace[index]?.values[1];
      return trace.filter(
        (one) =>
          !(
            (one.label === 'GIVEN' && one.values[1] === grant) ||
            (one.label === 'PRIOR' && one.values[0] === grant)
          ),
      );
    }),
  },
  {
    model: 'gate',
    name: 'a call in doubt that is made again without a question',
    forge: (trace) => {
      const cut = killedInCall(trace);
      return cut === null
        ? null
        : [...cut.trace, step('PROPOSED', 0, UNDOABLE + PLAIN, 60, cut.tool), step('DECIDED', 0, 1, 0)];
    },
  },
  {
    model: 'gate',
    name: 'a call in doubt that nobody is told of',
    forge: (trace) => {
      const cut = killedInCall(trace);
      return cut === null ? null : [...cut.trace.slice(0, -1), step('PROPOSED', 0, 1 + PLAIN, 60, 0)];
    },
  },
  {
    model: 'exchange',
    name: 'a request that is served without a decision',
    forge: at(respondedLater, without),
  },
  {
    model: 'exchange',
    name: 'a request that is served although it was denied',
    forge: at(respondedLater, denied),
  },
  {
    model: 'exchange',
    name: 'a response that is delivered without a decision',
    forge: at(delivered, without),
  },
  {
    model: 'exchange',
    name: 'a response that is delivered although it was denied',
    forge: at(delivered, denied),
  },
  {
    model: 'exchange',
    name: 'a response that is delivered twice',
    forge: at(is('DELIVERED'), (trace, index) => trace.toSpliced(index, 0, trace[index] ?? step('END'))),
  },
  { model: 'exchange', name: 'a response to nothing', forge: at(decidedLater, without) },
  {
    model: 'exchange',
    name: 'a peer id that was offered to nobody',
    forge: at(is('REQUESTED'), (trace, index) => {
      const peer = trace[index]?.values[2];
      return trace.filter((one) => !(one.label === 'OFFERED' && one.values[1] === peer));
    }),
  },
  {
    model: 'exchange',
    name: 'a peer id that was offered to another context',
    forge: at(is('REQUESTED'), (trace, index) => {
      const peer = trace[index]?.values[2];
      return trace.map((one) =>
        one.label === 'OFFERED' && one.values[1] === peer ? step('OFFERED', 63, peer ?? 0) : one,
      );
    }),
  },
  {
    model: 'exchange',
    name: 'a query that ends while its agent loop works',
    forge: at(is('CONTEXT_ENDED'), (trace, index) => {
      const end = trace.findIndex((one, later) => later > index && one.label === 'QUERY_ENDED');
      const heard = trace.find((one) => one.label === 'HEARD' && one.values[0] === trace[index]?.values[0]);
      return end < 0 || heard?.values[1] !== 255
        ? [step('DELIVERED', 0)]
        : trace.slice(0, end + 1).toSpliced(index, 1);
    }),
  },
];
