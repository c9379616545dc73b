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
  readonly app: AppId;
  readonly tool: string;
  readonly arguments: JsonObject;
  /** The arguments that say whom or what it acts upon, as the user's files have it; null: they do not say. */
  readonly identifying: readonly string[] | null;
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

  /** The user allowed all these calls, or not. No calls: nobody knows what the text asks for. */
  hear(followed: Followed): void {
    this.#followed.push(followed);
  }

  /**
   * One step for each allowed call that this one is: the same tool, and each argument as the user saw it. What the text left open must
   * be said by the query, unless it is a letter or the like by its name, and not identifying by the user's files.
   */
  stepsFor(call: FollowingCall): readonly Omit<PlanStep, 'id'>[] {
    const { app, tool } = call;
    return this.#agreedTo(call).map(() => ({
      ...{ app, task: 'what a text asks for', uses: [tool], acts: true, needs: [], after: [] },
    }));
  }

  /** Without the arguments that the user saw and allowed for this call. */
  withoutAgreed(call: FollowingCall): JsonObject {
    const [agreed] = this.#agreedTo(call);
    const names = Object.keys(agreed?.arguments ?? {});
    return Object.fromEntries(Object.entries(call.arguments).filter(([name]) => !names.includes(name)));
  }

  /**
   * Whether the user has to be asked about it, because a text that is followed may ask for it: its tool is in the list of such a text, or a
   * value of it stands in the text. Not if the user allowed this call, or the query says all its values.
   */
  isInDoubt(call: FollowingCall): boolean {
    const own = this.#followed.filter(({ app }) => app === call.app);
    if (own.length === 0 || this.#agreedTo(call).length > 0) return false;
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

  #agreedTo({
    app,
    tool,
    arguments: given,
    identifying,
    isInQuery,
  }: FollowingCall): readonly DelegatedCall[] {
    // Attack: the list leaves the attachments of a letter open, and the text says which.
    const isOnlyWritten = (name: string) => isWrittenArgument(name) && identifying?.includes(name) !== true;
    const agreed = this.#followed.flatMap((one) => (one.app === app && one.isAgreed ? one.calls : []));
    return agreed.filter((call) => {
      const isOpen = (name: string) => !Object.hasOwn(call.arguments, name);
      const isSame = ([name, value]: [string, Json]) =>
        canonicalJson(value) === canonicalJson(given[name] ?? null);
      const isFree = ([name, value]: [string, Json]) =>
        !isOpen(name) || (isOnlyWritten(name) && typeof value === 'string') || isSaid(value, isInQuery);
      return (
        call.tool === tool &&
        Object.entries(call.arguments).every(isSame) &&
        Object.entries(given).every(isFree)
      );
    });
  }
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
