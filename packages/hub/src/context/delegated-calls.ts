/** The texts that a query follows, the calls that they ask for, and which of these the user allowed. */
import { type AppId, canonicalJson, type Json, type JsonObject, type PlanStep } from '@cordon/core';
import { isWrittenArgument, leavesOf } from '@cordon/policy';

/** A call that a text asks for, as far as the text or the user states its arguments. */
export interface DelegatedCall {
  readonly tool: string;
  readonly arguments: JsonObject;
}

/** A call of an app that follows a text. */
export interface FollowingCall {
  /** The same object each time that this call is asked about. */
  readonly by: object;
  readonly app: AppId;
  readonly tool: string;
  readonly arguments: JsonObject;
  /** The arguments that say whom or what it acts upon, as the user's files have it; null: they do not say. */
  readonly identifying: readonly string[] | null;
  /** It changes nothing: a text among its arguments is what it looks for. */
  readonly looks: boolean;
  /** Whether the query says this. */
  readonly isInQuery: (value: string) => boolean;
}

interface Followed {
  readonly app: AppId;
  readonly text: string;
  readonly calls: readonly DelegatedCall[];
  readonly isAgreed: boolean;
}

/** Shorter values stand in every text. */
const SHORTEST = 3;

export class DelegatedCalls {
  readonly #followed: Followed[] = [];
  /** Calls that were allowed, each with the one that was made of it. */
  readonly #taken = new Map<DelegatedCall, FollowingCall['by']>();

  /** The user allowed all these calls, or not. No calls: nobody knows what the text asks for. */
  hear(followed: Followed): void {
    this.#followed.push(followed);
  }

  /**
   * Steps that plan this call; none if the user did not allow it. One for each allowed call of the tool, because the number of steps says
   * how often the tool may be called.
   */
  stepsFor(call: FollowingCall): readonly Omit<PlanStep, 'id'>[] {
    if (this.#agreedTo(call) === null) return [];
    const { app, tool } = call;
    const step = { app, task: 'what a text asks for', uses: [tool], acts: true, needs: [], after: [] };
    return this.#agreed(app).flatMap((one) => (one.tool === tool ? [step] : []));
  }

  /** Each allowed call is made once. Attack: the text has an allowed call made again and again. */
  take(call: FollowingCall): void {
    const agreed = this.#agreedTo(call);
    if (agreed !== null) this.#taken.set(agreed, call.by);
  }

  /** It was refused, or its arguments do not fit. */
  giveBack(by: FollowingCall['by']): void {
    for (const [agreed, taker] of this.#taken) if (taker === by) this.#taken.delete(agreed);
  }

  /** Without the arguments that the user saw and allowed for this call. */
  withoutAgreed(call: FollowingCall): JsonObject {
    const names = Object.keys(this.#agreedTo(call)?.arguments ?? {});
    return Object.fromEntries(Object.entries(call.arguments).filter(([name]) => !names.includes(name)));
  }

  /**
   * Whether the user has to be asked about it, because a text that is followed may ask for it: its tool is in the list of such a text, or a
   * value of it stands in the text. Not if the user allowed this call, or the query says all its values.
   */
  isInDoubt(call: FollowingCall): boolean {
    const own = this.#followed.filter(({ app }) => app === call.app);
    if (own.length === 0 || this.#agreedTo(call) !== null) return false;
    const values = textsIn(call.arguments);
    // Attack: a call without any value, or with an empty one, is said by every query.
    if (values.length > 0 && Object.values(call.arguments).every((one) => isSaid(one, call.isInQuery)))
      return false;
    const isNamed = ({ calls }: Followed) => calls.some(({ tool }) => tool === call.tool);
    const telling = values.filter((value) => value.length >= SHORTEST && !call.isInQuery(value));
    const isTold = ({ text }: Followed) => {
      const said = text.toLowerCase();
      return telling.some((value) => said.includes(value.toLowerCase()));
    };
    return own.some((followed) => isNamed(followed) || isTold(followed));
  }

  #agreed(app: AppId): readonly DelegatedCall[] {
    return this.#followed.flatMap((one) => (one.app === app && one.isAgreed ? one.calls : []));
  }

  /** The line of a list that allows this call, and that no other call has taken. */
  #agreedTo(call: FollowingCall): DelegatedCall | null {
    const isFree = (one: DelegatedCall) => (this.#taken.get(one) ?? call.by) === call.by;
    const agreed = this.#agreed(call.app).filter((one) => isFree(one) && isAllowedBy(one, call));
    const [closest = null] = agreed.toSorted((a, b) => stated(b) - stated(a));
    return agreed.find((one) => this.#taken.has(one)) ?? closest;
  }
}

/** How many arguments a list states. Of two lines that allow a call, the one that states more has nothing left for another call. */
function stated({ arguments: given }: DelegatedCall): number {
  return Object.keys(given).length;
}

/**
 * The same tool, and each argument as the user saw it. What the list leaves open must be said by the query, unless it is running text by its
 * name, such as the body of a mail, and not identifying by the user's files.
 */
function isAllowedBy(
  agreed: DelegatedCall,
  { tool, arguments: given, identifying, looks, isInQuery }: FollowingCall,
): boolean {
  // Attack: the list leaves the attachments of a letter open, or what a look looks for, or says nothing at all of a call; and the text does.
  const mayBeWritten = !looks && Object.keys(agreed.arguments).length > 0;
  const isRunningText = (name: string) =>
    mayBeWritten && isWrittenArgument(name) && identifying?.includes(name) !== true;
  const isSame = ([name, value]: [string, Json]) =>
    canonicalJson(value) === canonicalJson(given[name] ?? null);
  const isFree = ([name, value]: [string, Json]) =>
    Object.hasOwn(agreed.arguments, name) ||
    (isRunningText(name) && typeof value === 'string') ||
    isSaid(value, isInQuery);
  return (
    agreed.tool === tool &&
    Object.entries(agreed.arguments).every(isSame) &&
    Object.entries(given).every(isFree)
  );
}

/** Attack: a refused call differs from what the query says by a `true`, an empty text, or the name of a member. */
function isSaid(value: Json, isInQuery: (value: string) => boolean): boolean {
  if (Array.isArray(value)) return value.length > 0 && value.every((item: Json) => isSaid(item, isInQuery));
  if (typeof value === 'number') return isInQuery(String(value));
  if (typeof value === 'string') return value.trim() !== '' && isInQuery(value);
  return value === null || value === false;
}

/** The texts and numbers in a value that say something. */
function textsIn(value: Json): readonly string[] {
  const leaves = leavesOf(value, Number.POSITIVE_INFINITY) ?? [];
  return leaves.filter((text) => text.trim() !== '');
}
