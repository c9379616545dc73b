/**
 * `cordon apps review`, `pin` and `unpin`: apps are started as for use, without a query and without a way out, to hear
 * what they say of themselves; the user agrees to it, or does not.
 *
 * What is shown and asked is in review.ts.
 */

import { type Configuration, NOBODY } from '@cordon/config';
import { realPath } from '@cordon/config/reading';
import {
  type DescriptionFinding,
  drawReview,
  drawWhole,
  overviewOf,
  reviewDifferences,
} from '@cordon/console/review';
import { FRAME } from '@cordon/console/text';
import { type AppId, type Fault, fault, type InstalledApp, id } from '@cordon/core';
import {
  type AppDescription,
  descriptionDigest,
  type Review,
  type Reviewer,
  type Session,
  type Vetting,
} from '@cordon/hub';
import { type Composed, knownApps } from '@cordon/runtime/compose';
import { scannedDescription } from '@cordon/scan/description';
import type { CommandContext } from '../../context/command-context.ts';
import { reviewerOf } from '../../context/consent.ts';
import { EXIT, type ExitCode } from '../../context/exit.ts';
import { usingStore } from '../../context/opened-store.ts';
import { withQuietSession } from '../../context/sessions/quiet-session.ts';
import { noSuchApp } from './no-such-app.ts';

export interface ReviewOptions {
  /** Also what was agreed to, to see whether it is still so. */
  readonly all?: boolean;
  readonly yes?: boolean;
  /** Also every text and schema. */
  readonly full?: boolean;
}

export async function reviewApps(
  context: CommandContext,
  names: readonly string[],
  { all = false, yes = false, full = false }: ReviewOptions,
): Promise<ExitCode> {
  return withReviews(context, names, yes, async (run) => {
    const wanted = run.configuration.apps.filter(({ id: app, source }) =>
      names.length > 0 ? names.includes(app) : source.kind !== 'instructions' && (all || !run.isAgreed(app)),
    );
    if (wanted.length === 0) run.note('no app is new or changed; `--all` reviews all apps again');
    let code: ExitCode = EXIT.done;
    for (const app of wanted) {
      if (context.ending.aborted) return EXIT.refused;
      const next = await run.review(app, yes ? AGREES : run.reviewer, { isFull: full });
      if (next > code) code = next;
    }
    return code;
  });
}

/** Exit code 1: it says something else. */
export async function pinApp(context: CommandContext, name: string, pin: string): Promise<ExitCode> {
  if (!/^sha256:[0-9a-f]{64}$/.test(pin)) {
    const help = '`cordon apps show` prints it: `sha256:` and 64 digits';
    return context.reportFault(fault('usage', `\`${pin}\` is not a pin of an app’s description`, help));
  }
  return withReviews(context, [name], false, async (run) => {
    const app = run.configuration.apps.find(({ id: installed }) => installed === name);
    return app === undefined ? EXIT.failed : run.review(app, null, { wanted: pin });
  });
}

/** Exit code 1: there was nothing to take back. */
export function unpinApp(context: CommandContext, name: string): Promise<ExitCode> {
  const configuration = context.configuration();
  if (configuration === null) return Promise.resolve(EXIT.failed);
  return usingStore(context, configuration, ({ pins }) => {
    const isRemoved = pins.remove(realPath(configuration.folder), id(name));
    if (context.wantsJson) context.json({ kind: 'app.unpinned', id: name, removed: isRemoved });
    else
      context.output.say(
        '',
        isRemoved ? `\`${name}\` needs a review again` : `you have not agreed to an app \`${name}\``,
      );
    return isRemoved ? EXIT.done : EXIT.refused;
  });
}

const AGREES: Reviewer = { agrees: () => Promise.resolve(true) };

async function withReviews(
  context: CommandContext,
  names: readonly string[],
  agreesUnasked: boolean,
  use: (run: Run) => Promise<ExitCode>,
): Promise<ExitCode> {
  const configuration = context.configuration();
  if (configuration === null) return EXIT.failed;
  const missing = names.find((name) => !configuration.apps.some((app) => app.id === name));
  if (missing !== undefined) return context.reportFault(noSuchApp(missing, configuration));
  if (!(await context.agrees(configuration, agreesUnasked))) return EXIT.refused;
  // Nothing but the review is asked here.
  const quiet = { consent: NOBODY, notice: 'a review of apps' };
  return withQuietSession(context, configuration, quiet, (session, composed) =>
    use(new Run(context, configuration, composed, session)),
  );
}

class Run {
  readonly configuration: Configuration;
  readonly #context: CommandContext;
  readonly #composed: Composed;
  readonly #session: Session;

  constructor(context: CommandContext, configuration: Configuration, composed: Composed, session: Session) {
    this.configuration = configuration;
    this.#context = context;
    this.#composed = composed;
    this.#session = session;
  }

  /** The person at the terminal, or null. */
  get reviewer(): Reviewer | null {
    return reviewerOf(this.#context, () => knownApps(this.configuration, this.#composed.store));
  }

  isAgreed(app: AppId): boolean {
    return this.#composed.pins.digest(app) !== null;
  }

  /** `wanted`: the pin of what someone else has looked at; what has another is not shown, and nobody agrees to it. */
  async review(
    app: InstalledApp,
    reviewer: Reviewer | null,
    { wanted = null, isFull = false }: { readonly wanted?: string | null; readonly isFull?: boolean },
  ): Promise<ExitCode> {
    if (app.source.kind === 'instructions') {
      this.#say(app.id, 'its whole description is in the configuration; `cordon apps show` prints it');
      return EXIT.done;
    }
    const vetted = await this.#session.review(app.id, (_, said) =>
      wanted === null
        ? this.#look(app, said, reviewer, isFull)
        : Promise.resolve(this.#compare(app, said, wanted)),
    );
    if (!vetted.ok) return this.#context.reportFault(vetted.fault);
    if (vetted.value.kind === 'pinned') return this.#agreed(app, vetted.value);
    return this.#declined(app, vetted.value.fault, wanted !== null);
  }

  async #look(
    app: InstalledApp,
    said: AppDescription,
    reviewer: Reviewer | null,
    isFull: boolean,
  ): Promise<Vetting> {
    const { pins } = this.#composed;
    const known = pins.recheck(app, said);
    if (known.kind === 'pinned') return known;
    const review = pins.reviewOf(app, said);
    this.#print(review, reviewer, isFull);
    const isAgreed = (await reviewer?.agrees(review, this.#context.ending)) === true;
    return isAgreed ? pins.agree(app, said) : known;
  }

  /** An app that was agreed to before is compared as well: a user who names a pin wants to know whether it still holds. */
  #compare(app: InstalledApp, said: AppDescription, wanted: string): Vetting {
    const { pins } = this.#composed;
    const pin = descriptionDigest(said);
    if (pin !== wanted) {
      const help = '`cordon apps review` shows what it says';
      return {
        kind: 'unreviewed',
        fault: fault('app-unreviewed', `its description is different and has the pin ${pin}`, help),
      };
    }
    const known = pins.recheck(app, said);
    return known.kind === 'pinned' ? known : pins.agree(app, said);
  }

  /** A reviewer at a terminal scans and draws the description itself. */
  #print(review: Review, reviewer: Reviewer | null, isFull: boolean): void {
    const isDrawn = reviewer === null || reviewer === AGREES;
    if (!isDrawn && !isFull && !this.#context.wantsJson) return;
    const apps = knownApps(this.configuration, this.#composed.store);
    const findings = scannedDescription(review.description, review.app.id, apps);
    if (this.#context.wantsJson) return this.#context.json(reviewJson(review, findings));
    const { output } = this.#context;
    if (isFull) drawWhole(output, review, findings);
    if (!isDrawn) return;
    // Two lines: this one, and whether the app was agreed to.
    drawReview(output, review, findings, 2);
    if (!isFull)
      output.say(FRAME, `\`cordon apps review --full ${review.app.id}\` shows every text and schema`);
  }

  #agreed(app: InstalledApp, vetting: Extract<Vetting, { kind: 'pinned' }>): ExitCode {
    const pin = descriptionDigest(vetting.description);
    const demanded = this.configuration.entries.get(app.id)?.pin ?? null;
    const isNew = vetting.by === 'user';
    if (this.#context.wantsJson)
      this.#context.json({ kind: 'app.pinned', id: app.id, digest: vetting.digest, pin, isNew });
    else if (!isNew) this.#say(app.id, 'nothing has changed');
    // Not wrapped: what is copied must stay one line.
    else this.#context.output.line(`${app.id}: agreed to, "pin": "${pin}"`);
    if (demanded === null || demanded === pin) return EXIT.done;
    this.#context.reportFault(
      fault(
        'app-unreviewed',
        `the configuration requires a different description of \`${app.id}\``,
        `write \`"pin": "${pin}"\` there`,
      ),
    );
    return EXIT.refused;
  }

  /** `hasPin`: it was compared with a pin, and the reason says which one it has. */
  #declined(app: InstalledApp, { message, help }: Fault, hasPin: boolean): ExitCode {
    const hint = this.#context.terminal.isInteractive ? '' : '; `--yes` agrees without a question';
    if (this.#context.wantsJson) this.#context.json({ kind: 'app.declined', id: app.id, reason: message });
    else this.#say(app.id, hasPin ? `${message}; ${help}` : `not agreed to, and not used${hint}`);
    return EXIT.refused;
  }

  note(text: string): void {
    if (!this.#context.wantsJson) this.#context.output.say('', text);
  }

  #say(app: AppId, text: string): void {
    if (!this.#context.wantsJson) this.#context.output.say(`${app}: `, text);
  }
}

function reviewJson(review: Review, findings: readonly DescriptionFinding[]) {
  const { app, configured, description, digest, before } = review;
  return {
    kind: 'app.review',
    id: app.id,
    state: before === null ? 'new' : 'changed',
    digest,
    pin: descriptionDigest(description),
    configured,
    description,
    findings,
    overview: overviewOf(review),
    difference: before === null ? null : reviewDifferences(before, review),
  };
}
