/**
 * Events as a person reads them while they happen: one or two lines each, and nothing for what went as expected.
 * `--json` prints the events themselves instead.
 *
 * Words of apps and models are escaped by the screen.
 */

import { argumentsInLine, type Screen, type Style } from '@cordon/console/text';
import type { AppId, ContextId, Event, EventId, EventKind, Json, Reason } from '@cordon/core';
export interface RenderOptions {
  /** Also what is only of interest when something goes wrong. */
  readonly isVerbose: boolean;
  /** Events are shown as they happen, by a process that has said what is weaker than usual; absent: no. */
  readonly isLive?: boolean;
}

/** Lines of an event in the compact form. */
const COMPACT_LINES = 2;
const VERBOSE_LINES = 8;
const MOST_ANSWER_LINES = 5000;
/** Characters of arguments and messages, in the compact form about as many as fit on its lines. */
const MOST_PAYLOAD = 2000;
const COMPACT_PAYLOAD = 110;

export class EventRenderer {
  readonly #screen: Screen;
  readonly #isVerbose: boolean;
  readonly #isLive: boolean;
  /** Answers that are proposed and not yet decided, by context. */
  readonly #answers = new Map<ContextId | null, string>();
  /** Steps that are proposed, and what is printed when each is allowed, delivered or denied. */
  readonly #steps = new Map<EventId, ProposedStep>();

  constructor(screen: Screen, options: RenderOptions) {
    this.#screen = screen;
    this.#isVerbose = options.isVerbose;
    this.#isLive = options.isLive === true;
  }

  /** Draws one event. What a person sees is complete only if every event comes by, in order. */
  render(event: Event): void {
    const detail = (text: string) => this.#detail(event, text);
    const note = (text: string, style?: Style) => this.#note(text, style);
    switch (event.kind) {
      case 'session.started':
        return this.#sessionStarted(event);
      case 'session.resumed':
        return note(
          `resumed after ${event.events} events${event.lost === undefined ? '' : `; ${event.lost ?? 'some'} may be lost`}`,
        );
      case 'session.ended':
        return detail('the session ended');
      case 'user.message':
      case 'query.delivered':
        return detail(event.text);
      case 'plan.made':
        return this.#planMade(event);
      case 'context.created':
        return detail(`${event.of} context for ${named(event.apps)}`);
      case 'context.ended':
      case 'app.stopped':
        return detail(event.reason);
      case 'app.pinned':
        return detail(`${PINNED_WORDS[event.by]}, ${event.digest.slice(0, 19)}…`);
      case 'app.changed':
        return detail(
          `description changed: expected ${event.pinned.slice(0, 19)}…, got ${event.found.slice(0, 19)}…`,
        );
      case 'right.granted':
        return detail(`${event.right} ${event.value}`);
      case 'app.started':
        return detail(`in ${event.milliseconds} ms, ${confinementOf(event.layers)}`);
      case 'summary.made':
        return detail(`${event.turns} earlier messages, by ${event.by}`);
      case 'facts.learnt':
        return this.#factsLearnt(event);
      case 'fact.observed':
        return detail(`remembers "${event.name}" as a statement of the app`);
      case 'question.answered':
        return detail(`a rule asks \`${event.service}\`: ${event.reason ?? this.#payload(event.answer)}`);
      case 'model.message':
        if (event.cut !== undefined) this.#screen.say('! ', CUT[event.cut], 'warn');
        return detail(`${event.text} ${event.calls.map(({ name }) => `[${name}]`).join(' ')}`);
      case 'model-call.proposed':
        return detail(`${event.model}, ${event.messages} messages, ${event.tools.length} tools`);
      case 'tool-call.proposed':
        return this.#propose(event, 'allowed', this.#callWords(event));
      case 'tool-output.proposed':
        return detail(`${event.isError ? 'error: ' : ''}${event.text}`);
      case 'app-request.proposed':
        return this.#step(
          `${nameOf(event.from)} asks for ${event.functionality}, served by ${event.to}: ${this.#payload(event.message)}`,
        );
      case 'app-response.proposed':
        return this.#propose(event, 'delivered', {
          done: `${event.from} answers ${nameOf(event.to)}: ${this.#payload(event.message)}`,
          denied: `denied an answer of ${event.from} to ${nameOf(event.to)}`,
        });
      case 'data-release.proposed':
        return this.#propose(event, 'delivered', releaseWords(event));
      case 'egress.proposed':
        return this.#propose(event, 'allowed', {
          done: `${event.app} connects to ${event.host}:${event.port}`,
          denied: `denied a connection of ${event.app} to ${event.host}:${event.port}`,
        });
      case 'answer.proposed':
        this.#answers.set(event.context, event.text);
        return detail(`${event.text.length} characters`);
      case 'answer-part.proposed':
        return detail(`${event.text.length} characters, from ${event.from}`);
      case 'answer-part.executed':
        return;
      case 'model-call.decided':
      case 'tool-call.decided':
      case 'tool-output.decided':
      case 'app-request.decided':
      case 'app-response.decided':
      case 'data-release.decided':
      case 'egress.decided':
      case 'answer.decided':
      case 'answer-part.decided':
        return this.#decided(event);
      case 'answer.executed':
        return this.#answered(event);
      case 'model-call.executed':
      case 'tool-call.executed':
      case 'tool-output.executed':
      case 'app-request.executed':
      case 'app-response.executed':
      case 'data-release.executed':
      case 'egress.executed':
        this.#print(event, 'delivered');
        return detail(`in ${event.milliseconds} ms${tokens(event)}`);
      case 'model-call.failed':
      case 'tool-call.failed':
      case 'tool-output.failed':
      case 'app-request.failed':
      case 'app-response.failed':
      case 'data-release.failed':
      case 'egress.failed':
      case 'answer.failed':
      case 'answer-part.failed':
      case 'app.unavailable':
        return this.#failed(event);
      case 'tool-call.in-doubt':
        return this.#inDoubt(event);
      case 'query.resumed':
        return note(`resuming: ${event.finished} tool calls are done and will not be repeated`);
      case 'probe.received':
      case 'offer.made':
        return detail(event.functionality);
      case 'probe.refused':
        return detail(`${event.functionality} is not served by any app`);
      case 'app.installed':
        return note(`${event.app ?? ''} is installed`);
      case 'install.proposed':
        return note(
          `no installed app serves \`${event.functionality}\`; your configuration names ${event.apps.join(', ')}`,
        );
      case 'request.refused':
        return note(`a request for \`${event.functionality}\` was stopped: ${REQUEST_ENDS[event.reason]}`);
      case 'read.refused':
        return note(`${event.reference} was not read: ${READ_ENDS[event.reason]}`);
      case 'permission.asked':
        return detail(event.prompt.question);
      case 'permission.answered':
        return this.#permissionAnswered(event);
      case 'choice.asked':
        return detail(`${event.question} ${event.choices.join(', ')}`);
      case 'choice.answered':
        return note(event.choice === null ? 'none of the apps was chosen' : `${event.choice} was chosen`);
      case 'grant.given':
        return detail(`${event.subject.scope} ${event.subject.what}, ${event.duration}`);
      case 'grant.used':
        return detail(event.grant);
      case 'egress.refused':
        note(refusedContact(event), 'warn');
        // Attack: a site of the attacker leads to a machine of the user's network.
        if (event.lacks?.includes('@') === true)
          note(
            'the name leads into your own network, perhaps to this machine: add it only if the server is yours',
            'bad',
          );
        return;
      case 'egress.closed':
        return detail(
          `${event.bytesUp} bytes sent, ${event.bytesDown} received${event.cut === null ? '' : `; cut: ${event.cut}`}`,
        );
      case 'message.dropped':
        return note(`dropped a message of ${event.bytes} bytes: ${event.reason}`, 'warn');
      case 'query.ended':
        return this.#queryEnded(event);
      default:
        event satisfies never;
    }
  }

  #sessionStarted(event: Extract<Event, { kind: 'session.started' }>): void {
    if (event.isolation === 'none' && !this.#isLive) {
      this.#say(
        '!! ',
        'NO ISOLATION: all apps share one context; Cordon checks no policy and asks no questions',
        'bad',
      );
    }
    this.#note(`model ${event.model}, ${event.isolation === 'none' ? 'no isolation' : 'each app isolated'}`);
    if (!this.#isLive) for (const notice of event.notices) this.#note(notice, 'warn');
  }

  #planMade(event: Extract<Event, { kind: 'plan.made' }>): void {
    const { steps: planned } = event.plan;
    const steps = planned.map((step) => `${step.id}. ${step.app ?? 'no app'}: ${step.task}`);
    if (planned.some(({ app }) => app !== null)) this.#note(`plan: ${steps.join('  ')}`);
    this.#detail(event, `${event.origin}; candidates ${named(event.plan.candidates)}`);
  }

  /** What the user told before needs no mention. */
  #factsLearnt({ facts }: Extract<Event, { kind: 'facts.learnt' }>): void {
    const told = facts.filter(({ isNew }) => isNew).map(({ name, value }) => `${name} = ${value}`);
    if (told.length > 0) this.#note(`Noted: ${told.join('; ')}. \`cordon memory\` shows and corrects it.`);
  }

  #decided(event: Extract<Event, { verdict: 'allow' | 'deny' }>): void {
    // The same is said of the whole answer.
    if (event.kind === 'answer-part.decided' && event.verdict === 'deny')
      return this.#detail(event, `held back: ${reasonsOf(event)}`);
    for (const warning of event.warnings) this.#say('! ', `warning: ${reasonText(warning)}`, 'warn');
    if (event.verdict === 'allow') {
      this.#print(event, 'allowed');
      return this.#detail(event, `allowed, permission ${event.permission}`);
    }
    const step = this.#take(event);
    if (isReplaced(event)) return this.#detail(event, 'the user replaced it');
    if (event.kind === 'answer.decided') {
      this.#answers.delete(event.context);
    }
    const denied = step?.denied ?? `denied ${EFFECT_WORDS[event.kind]}${of(event.app)}`;
    this.#say('✗ ', `${denied}: ${reasonsOf(event)}`, 'bad', VERBOSE_LINES);
  }

  #failed(event: Extract<Event, { fault: unknown }>): void {
    this.#take(event);
    const { kind, message, help } = event.fault;
    this.#say('✗ ', `failed${of(event.app)}: ${message} (${kind})`, 'bad', VERBOSE_LINES);
    if (help !== undefined) this.#say('  help: ', help, 'plain', VERBOSE_LINES);
  }

  /** Never left out: the user may have to look for themselves what has happened. */
  #inDoubt({ app, fault }: Extract<Event, { kind: 'tool-call.in-doubt' }>): void {
    const what = `a call${of(app)} that cannot be undone may or may not have taken effect`;
    this.#say('!! ', `${what}: ${fault.message}`, 'bad', VERBOSE_LINES);
    this.#say(
      '  help: ',
      'check whether it did; Cordon does not repeat it unless you allow that',
      'plain',
      VERBOSE_LINES,
    );
  }

  /** The text itself, once it may be seen; not again where it was shown as it came. */
  #answered(event: Extract<Event, { kind: `${string}.executed` }>): void {
    const text = this.#answers.get(event.context);
    this.#answers.delete(event.context);
    if (text === undefined) return;
    const more = this.#screen.quote(text, MOST_ANSWER_LINES);
    if (more !== null) this.#note(`${more} more lines are in the journal`);
  }

  /** Says what the user did not just type: the rest they know. */
  #permissionAnswered(event: Extract<Event, { kind: 'permission.answered' }>): void {
    if (event.by === 'user')
      return this.#detail(event, event.allow ? `allowed ${event.duration}` : 'not allowed');
    if (event.by === 'grant') return this.#note('allowed by an earlier permission');
    this.#note('not allowed: nobody answered', 'warn');
  }

  #queryEnded(event: Extract<Event, { kind: 'query.ended' }>): void {
    if (event.outcome === 'answered') return this.#detail(event, 'answered');
    const reason = event.reason === null ? '' : `: ${event.reason}`;
    this.#say('✗ ', `the query was ${OUTCOME_WORDS[event.outcome]}${reason}`, 'bad', VERBOSE_LINES);
  }

  /** Arguments and messages. */
  #payload(value: Json): string {
    return argumentsInLine(value, this.#isVerbose ? MOST_PAYLOAD : COMPACT_PAYLOAD);
  }

  #callWords(event: Extract<Event, { kind: 'tool-call.proposed' }>): StepWords {
    const done = `${event.app} ${event.tool} ${this.#payload(event.arguments)}${irreversibly(event)}`;
    return { done, denied: `denied ${done}` };
  }

  #propose({ id }: Event, when: ProposedStep['when'], words: StepWords): void {
    this.#steps.set(id, { when, ...words });
  }

  /** Says of a proposed step that it happens: only now is it true. */
  #print(event: Event, when: ProposedStep['when']): void {
    const [proposal] = event.causes;
    if (proposal === undefined || this.#steps.get(proposal)?.when !== when) return;
    const step = this.#take(event);
    if (step !== undefined) this.#step(step.done);
  }

  #take({ causes: [proposal] }: Event): ProposedStep | undefined {
    const step = proposal === undefined ? undefined : this.#steps.get(proposal);
    if (proposal !== undefined) this.#steps.delete(proposal);
    return step;
  }

  #step(text: string): void {
    this.#say('→ ', text, 'plain');
  }

  #note(text: string, style: Style = 'dim'): void {
    this.#say('· ', text, style);
  }

  #detail(event: Event, text: string): void {
    if (this.#isVerbose) this.#say('· ', `${event.sequence} ${event.kind}${of(event.app)}: ${text}`, 'dim');
  }

  #say(
    mark: string,
    text: string,
    style: Style,
    lines = this.#isVerbose ? VERBOSE_LINES : COMPACT_LINES,
  ): void {
    this.#screen.say(mark, text.slice(0, MOST_PAYLOAD * 2), style, lines);
  }
}

/** What is printed of a step that happens, and of one that does not, which the reasons follow. */
interface StepWords {
  readonly done: string;
  readonly denied: string;
}

interface ProposedStep extends StepWords {
  /** A call or a connection is printed when it begins; data that is passed on, when it was. */
  readonly when: 'allowed' | 'delivered';
}

/** A form of which nothing is known proposes nothing; one that stays empty gives nothing. */
function releaseWords({ to, items }: Extract<Event, { kind: 'data-release.proposed' }>): StepWords {
  const names = items.map(({ name }) => name).join(', ');
  return {
    done: `${nameOf(to)} is given ${names || 'nothing'}`,
    denied: `${nameOf(to)} is not given ${names || 'data that it asked for'}`,
  };
}

/** The user's changed proposal follows the original, and is printed instead of it. */
function isReplaced({ permission, reasons }: Extract<Event, { verdict: 'allow' | 'deny' }>): boolean {
  return permission !== 'denied' && reasons.some(({ rule }) => rule === 'permission/edited');
}

function confinementOf(layers: readonly string[]): string {
  return layers.length === 0
    ? 'runs elsewhere: Cordon does not confine it'
    : `confined by ${layers.join(', ')}`;
}

const REQUEST_ENDS = {
  depth: 'apps asked each other too many levels deep',
  budget: 'the query has made too many requests',
} as const;
const READ_ENDS = { budget: 'this turn has read its maximum of text', length: 'it is too long' } as const;

const CUT = {
  length: 'the answer reached the maximum length and was cut off',
  refusal: 'the provider’s filter cut the answer off',
} as const;

const OUTCOME_WORDS = { refused: 'refused', failed: 'not answered', cancelled: 'cancelled' } as const;

const EFFECT_WORDS: Readonly<Record<Extract<EventKind, `${string}.decided`>, string>> = {
  'model-call.decided': 'a model call',
  'tool-call.decided': 'a tool call',
  'tool-output.decided': "a tool's output",
  'app-request.decided': 'a request to another app',
  'app-response.decided': 'an answer to another app',
  'data-release.decided': 'a release of data',
  'egress.decided': 'a connection',
  'answer.decided': 'the answer',
  'answer-part.decided': 'a part of the answer',
};

function refusedContact({
  app,
  host,
  port,
  reason,
  lacks,
  times,
}: Extract<Event, { kind: 'egress.refused' }>): string {
  const place = host === null ? 'an address' : port === null ? host : `${host}:${port}`;
  const help = lacks === undefined ? '' : `; to allow it, add "${lacks}" to \`network\` in its manifest`;
  return `${app} did not reach ${place}: ${reason}${help}${times === 1 ? '' : ` (${times} times)`}`;
}

function reasonsOf({ reasons }: Extract<Event, { verdict: unknown }>): string {
  return reasons.map(reasonText).join('; ') || 'no reason was recorded';
}

function reasonText(reason: Reason): string {
  return `${reason.message} (${reason.rule})`;
}

function nameOf(app: AppId | null): string {
  return app ?? 'a context without app';
}

function of(app: AppId | null): string {
  return app === null ? '' : ` of ${app}`;
}

function named(apps: readonly AppId[]): string {
  return apps.length === 0 ? 'no app' : apps.join(', ');
}

function irreversibly(event: { readonly irreversible: boolean }): string {
  return event.irreversible ? ' (cannot be undone)' : '';
}

function tokens(event: Extract<Event, { kind: `${string}.executed` }>): string {
  return event.usage === undefined ? '' : `, ${event.usage.inputTokens}+${event.usage.outputTokens} tokens`;
}

const PINNED_WORDS: Readonly<Record<Extract<Event, { kind: 'app.pinned' }>['by'], string>> = {
  user: 'agreed to by the user',
  configuration: 'as the configuration requires',
  option: 'trusted without review',
};
