/**
 * The program `cordon`: options and commands. Each command is loaded when it is used, because `chat` must show its
 * prompt at once.
 *
 * Ring 1.
 */
import { Command, InvalidArgumentError, Option } from 'commander';
import type { Options, Surroundings } from './commands/surroundings.ts';
import { EXIT, type ExitCode } from './exit.ts';
import { thrownFault } from './thrown.ts';
import { VERSION } from './version.ts';

function shared(command: Command): Command {
  return command
    .option('--config <file>', 'configuration (default: ./cordon.json, then the user’s own)')
    .option('--data <folder>', 'where journal, grants and the apps’ state are kept')
    .option('--json', 'one JSON event per line on standard output');
}

/** A command that starts apps. */
function confining(command: Command): Command {
  return shared(command).addOption(weakerSandbox());
}

function asking(command: Command): Command {
  return extended(confining(command))
    .option(
      '--model <provider/model>',
      'e.g. openai/gpt-5, anthropic/claude-sonnet-4-5, google/gemini-3-pro, ollama/llama3',
    )
    .option('--base-url <url>', 'an OpenAI-compatible server for the model’s provider')
    .addOption(repeatable('--policy <file>', 'rules in force beside the default ones'))
    .addOption(repeatable('--scenario <file>', 'scenario for the built-in obedient model'))
    .addOption(
      new Option('--isolation <how>', 'none: the baseline, one shared context without policy')
        .choices(['spokes', 'none'])
        .default('spokes'),
    )
    .option('--answers <file>', 'answers to permission prompts; `-`: lines of JSON on standard input')
    .option('--wait [span]', 'leave questions to `cordon prompts answer` for so long (default: 1d)')
    .option('--deny-warned', 'deny prompts that carry a warning')
    .option('--allow-rest', 'allow prompts that carry none')
    .option('--deny-all', 'deny every prompt')
    .option('--pin-unseen', 'take apps at their word that are new, or configured anew')
    .option('--max-steps <number>', 'model calls of one turn (default: 24)')
    .option('--max-tokens <number>', 'tokens of one query (default: 400000)')
    .option('--max-seconds <number>', 'time of one query, without your own (default: 1800)')
    .option('--max-cost <amount>', 'what one query may cost, by the `prices` of the configuration')
    .option('--private', 'no earlier context comes in, and nothing is remembered; the journal keeps it')
    .option('--verbose', 'show every event');
}

/** A policy, asked about traces: where it comes from and what it is given. */
function judging(command: Command): Command {
  return command
    .addOption(repeatable('--policy <file>', 'another policy that is in force as well'))
    .addOption(
      new Option('--dialect <name>', 'invariant: refuse what that language lacks')
        .choices(['cordon', 'invariant'])
        .default('cordon'),
    )
    .addOption(repeatable('--param <name=value>', 'a policy parameter, in JSON or a text'))
    .option('--params <file>', 'policy parameters, a JSON object');
}

/** A command that lists grants. */
function filtering(command: Command): Command {
  return shared(command)
    .option('--scope <scope>', 'only this scope, e.g. exchange or egress')
    .option('--app <app>', 'only those in which this app acts or receives')
    .option('--session <session>', 'only those of this session')
    .option('--duration <duration>', 'only once, session, until or permanent');
}

/** As text, because the library that knows them is loaded only by commands that read traces. */
const FORMATS = 'openai-chat, openai-responses, anthropic, gemini, mcp, otel or cordon-journal';

/** A command that reads recorded traces. */
function reading(command: Command): Command {
  return judging(command)
    .option('--format <name>', `what the traces are, where that is not recognised: ${FORMATS}`)
    .option('--labels <file>', 'what the tools of the traces do, so that rules know it');
}

/** Commands whose rules may call functions of the user's. */
function extended(command: Command): Command {
  return command.addOption(repeatable('--detectors <file>', 'a module of functions that rules may call'));
}

/** Commands about traces whose rules may ask. */
function answered(command: Command): Command {
  return extended(command)
    .option('--ask-models', 'put what rules ask to the models and services that the configuration names')
    .option('--config <file>', 'the configuration, for --ask-models');
}

/** `cordon memory`: what is remembered is the user's, to see and to change. */
function remembering(memory: Command): void {
  const loaded = () => import('./commands/memory.ts');
  const owner = ['--owner <name>', '`system`, `vanilla`, `shared`, or an app'] as const;
  const session = ['--session <id>', 'of this session only'] as const;
  shared(memory.description('what is remembered, and for whom')).action((options) =>
    run(options, async (around) => (await loaded()).listMemory(around)),
  );
  shared(memory.command('list').description('who has a memory, and how much')).action((options) =>
    run(options, async (around) => (await loaded()).listMemory(around)),
  );
  shared(memory.command('show [owner]').description('facts, summaries and histories'))
    .option(...session)
    .addOption(new Option('--kind <kind>', 'only these').choices(['fact', 'summary', 'turn']))
    .action((name: string | undefined, { session, kind, ...options }) =>
      run(options, async (around) => (await loaded()).showMemory(around, { owner: name, session, kind })),
    );
  shared(memory.command('search <words...>').description('where all of these words occur'))
    .option(...owner)
    .action((words: string[], { owner, ...options }) =>
      run(options, async (around) => (await loaded()).searchMemory(around, words, { owner })),
    );
  shared(memory.command('correct <id> <text>').description('replaces the text of an item')).action(
    (item: string, text: string, options) =>
      run(options, async (around) => (await loaded()).correctMemory(around, item, text)),
  );
  shared(memory.command('delete [id...]').description('deletes for good'))
    .option(...owner)
    .option(...session)
    .option('--everything', 'of all owners')
    .option('--yes', 'without asking')
    .action((items: string[], { owner, session, everything, yes, ...options }) =>
      run(options, async (around) =>
        (await loaded()).deleteMemory(around, items, { owner, session, everything, yes }),
      ),
    );
  shared(memory.command('export').description('all of it, one JSON object a line'))
    .option(...owner)
    .option(...session)
    .action(({ owner, session, ...options }) =>
      run(options, async (around) => (await loaded()).exportMemory(around, { owner, session })),
    );
  shared(memory.command('prune').description('deletes what is older or more than is kept'))
    .addOption(wholeNumber('--days <days>', 'overrides `memory.keepDays`'))
    .addOption(wholeNumber('--mib <mebibytes>', 'overrides `memory.keepMiB`'))
    .action(({ days, mib, ...options }) =>
      run(options, async (around) => (await loaded()).pruneMemory(around, { days, mib })),
    );
  shared(memory.command('rekey').description('encrypts all that is kept, with the configured key or another'))
    .option('--new-key-file <file>', 'the new key, where there is one already')
    .option('--none', 'writes everything in the clear again')
    .action(({ newKeyFile, none, ...options }) =>
      run(options, async (around) => (await loaded()).rekeyMemory(around, { newKeyFile, none })),
    );
}

/** From 0 on. */
function wholeNumber(flags: string, description: string): Option {
  return new Option(flags, description).argParser((value) => {
    if (/^\d{1,6}$/.test(value)) return Number(value);
    throw new InvalidArgumentError('a whole number should stand here.');
  });
}

function repeatable(flags: string, description: string): Option {
  return new Option(flags, `${description} (repeatable)`)
    .argParser((value, before: readonly string[]) => [...before, value])
    .default([], 'none');
}

const UNCAUGHT = 'what was recorded is kept; `cordon sessions` lists what can be gone on with';

/** Runs a command in its surroundings; whatever is thrown is a bug, told in one line, and never success. */
async function run(
  raw: Record<string, unknown>,
  command: (surroundings: Surroundings) => Promise<ExitCode> | ExitCode,
): Promise<void> {
  await import('./compilation.ts');
  const { Surroundings: Built } = await import('./commands/surroundings.ts');
  const { baseUrl, ...rest } = raw as Options & { baseUrl?: string };
  const surroundings = new Built({ ...rest, ...(baseUrl === undefined ? {} : { baseURL: baseUrl }) });
  // Thrown where nobody waits for it: by a timer, or by a stream that breaks. Apps end with this process.
  process.once('uncaughtException', (error) => {
    surroundings.tellFault({ help: UNCAUGHT, ...thrownFault(error) });
    if (raw.verbose === true) console.error(error.stack);
    process.exit(EXIT.failed);
  });
  try {
    process.exitCode = await command(surroundings);
  } catch (error) {
    surroundings.tellFault(thrownFault(error));
    if (raw.verbose === true && error instanceof Error) console.error(error.stack);
    process.exitCode = EXIT.failed;
  } finally {
    await surroundings.close();
  }
}

/** `cordon run`, on its own: what stands behind its options is another program's, and may look like options. */
function running(): Command {
  return new Command('run')
    .description('any command in the sandbox, to be named in any client’s configuration')
    .usage('[options] -- <command...>')
    .argument('<command...>', 'what to run; a launcher such as npx runs what was installed')
    .option('--manifest <file>', 'what it may have: files, network, env, limits, state (JSON)')
    .addOption(repeatable('--read <path>', 'a file or folder that it may read'))
    .addOption(repeatable('--write <path>', 'a file or folder that it may read and write'))
    .addOption(repeatable('--network <site>', 'a site that it may talk to'))
    .addOption(
      repeatable('--env <name[=value]>', 'a variable that it is given, of your own or with this value'),
    )
    .option('--state <name>', 'a private folder, /state, that is kept under this name')
    .addOption(repeatable('--policy <file>', 'rules for its requests, beside the default ones'))
    .addOption(weakerSandbox())
    .option('--data <folder>', 'where private folders, journal and the sandbox’s test are kept')
    .option('--json', 'what cordon itself says comes as lines of JSON, on standard error')
    .action(async (words: string[], options) => {
      await import('./compilation.ts');
      // Not `exitCode`: standard input may still be open, and keep this process alive.
      process.exit(await (await import('./commands/run.ts')).run(words, options));
    });
}

function weakerSandbox(): Option {
  return new Option(
    '--sandbox <weaker=layer,…>',
    'leaves out layers of the sandbox; `cordon doctor` names them',
  );
}

function auditing(audit: Command): void {
  audit.description('what the journal holds, and whether it is what was written');
  const load = () => import('./commands/audit.ts');
  shared(audit.command('verify [session...]').description('recomputes the hash chain of sessions, or of all'))
    .addOption(repeatable('--head <id:events:hash>', 'a head that was kept: what it had must still be there'))
    .option('--heads <file>', 'a file of such heads, one a line')
    .action((names: string[], { head, heads, ...options }) =>
      run(options, async (around) => (await load()).verifyJournal(around, names, { head, heads })),
    );
  shared(
    audit.command('heads [session...]').description('what to keep elsewhere, one line a session'),
  ).action((names: string[], options) =>
    run(options, async (around) => (await load()).listHeads(around, names)),
  );
  shared(audit.command('show <session>').description('every event of a session'))
    .addOption(wholeNumber('--from <sequence>', 'from this one on'))
    .action((name: string, { from = 0, ...options }) =>
      run(options, async (around) => (await load()).showJournal(around, name, from)),
    );
  shared(
    audit.command('sign <session...>').description('vouches for sessions that were written without the key'),
  ).action((names: string[], options) =>
    run(options, async (around) => (await load()).signSessions(around, names)),
  );
}

function program(): Command {
  const cordon = new Command('cordon').description(
    'Runs agents and other people’s apps so that no app can steer another.',
  );
  // Commands take this over as they are made.
  cordon.version(VERSION).exitOverride().showHelpAfterError('  help: `--help` lists arguments and options');
  asking(cordon.command('ask <query>').description('serve one query'))
    .option('--resume <session>', 'go on with an interrupted session')
    .action((query: string, options) =>
      run(options, async (around) => (await import('./commands/ask.ts')).ask(around, query, options.resume)),
    );
  asking(cordon.command('chat').description('serve queries as they are typed'))
    .option('--resume <session>', 'go on with an interrupted session')
    .action((options) =>
      run(options, async (around) => (await import('./commands/chat.ts')).chat(around, options.resume)),
    );
  asking(cordon.command('resume [session]').description('go on with a query that came to no answer')).action(
    (session: string | undefined, options) =>
      run(options, async (around) => (await import('./commands/resume.ts')).resume(around, session)),
  );
  confining(
    cordon
      .command('demo [case]')
      .description('case studies, baseline beside Cordon: those of the paper, one by its number, or all'),
  )
    .option('--verbose', 'show every event')
    .action((number: string | undefined, options) =>
      run(options, async (around) => (await import('./commands/demo.ts')).demo(around, number)),
    );
  asking(cordon.command('start').description('chat if a provider is configured, else the demo')).action(
    (options) => run(options, async (around) => (await import('./commands/start.ts')).start(around)),
  );
  confining(cordon.command('doctor').description('what this machine can confine'))
    .option('--attack [group]', 'also tries to get out, in some two hundred ways')
    .option('--verbose', 'show every attempt')
    .action(({ attack = false, ...options }) =>
      run(options, async (around) =>
        attack !== false
          ? (await import('./commands/doctor-attack.ts')).doctorAttack(around, attack)
          : (await import('./commands/doctor.ts')).doctor(around),
      ),
    );
  cordon.addCommand(running());
  // Options behind `install` are its own, though the two share some.
  const apps = cordon.enablePositionalOptions().command('apps').enablePositionalOptions();
  shared(apps.description('what is installed and what each app may do')).action((options) =>
    run(options, async (around) => (await import('./commands/apps.ts')).apps(around)),
  );
  shared(apps.command('list').description('each app in a line: what was agreed to of it')).action((options) =>
    run(options, async (around) => (await import('./commands/apps.ts')).listApps(around)),
  );
  shared(apps.command('show <app>').description('what was agreed to of an app, word for word')).action(
    (app: string, options) =>
      run(options, async (around) => (await import('./commands/apps.ts')).showApp(around, app)),
  );
  confining(apps.command('review [app...]').description('shows what is new or has changed, and asks'))
    .option('--all', 'also apps that were agreed to')
    .option('--yes', 'agrees without asking')
    .action((names: string[], { all = false, yes = false, ...options }) =>
      run(options, async (around) =>
        (await import('./commands/apps-review.ts')).reviewApps(around, names, { all, yes }),
      ),
    );
  confining(
    apps.command('pin <app> <pin>').description('agrees to an app if what it says has this pin'),
  ).action((app: string, digest: string, options) =>
    run(options, async (around) => (await import('./commands/apps-review.ts')).pinApp(around, app, digest)),
  );
  shared(apps.command('unpin <app>').description('takes an agreement back')).action((app: string, options) =>
    run(options, async (around) => (await import('./commands/apps-review.ts')).unpinApp(around, app)),
  );
  shared(apps.command('search <words...>').description('searches the configured registry for apps')).action(
    (words: string[], options) =>
      run(options, async (around) => (await import('./commands/apps-search.ts')).searchApps(around, words)),
  );
  shared(apps.command('install [app...]').description('fetches the packages that apps are started from'))
    .usage('[options] [app...] | [options] -- <command...>')
    .option('--again', 'also what is installed: shows what would change, and asks')
    .option('--yes', 'puts what changed in force without asking')
    .action((words: string[], { again = false, yes = false, ...options }) => {
      const isCommand = process.argv.includes('--');
      return run(options, async (around) =>
        (await import('./commands/apps-install.ts')).installApps(around, words, isCommand, { again, yes }),
      );
    });
  shared(
    apps
      .command('remove <app>')
      .description('takes an app out of the configuration, and says what is left of it'),
  )
    .option('--purge', 'deletes what is left of it too: agreement, grants, memory, files, package')
    .option('--yes', 'without asking')
    .action((app: string, { purge = false, yes = false, ...options }) =>
      run(options, async (around) =>
        (await import('./commands/apps-remove.ts')).removeApp(around, app, { purge, yes }),
      ),
    );
  const sessions = cordon.command('sessions').enablePositionalOptions();
  shared(sessions.description('what was asked, and what can be resumed')).action((options) =>
    run(options, async (around) => (await import('./commands/sessions.ts')).sessions(around)),
  );
  shared(sessions.command('delete [session...]').description('deletes sessions with all that is of them'))
    .addOption(wholeNumber('--older-than <days>', 'those in which nothing has happened for so long'))
    .option('--yes', 'without asking')
    .action((names: string[], { olderThan, yes, ...options }) =>
      run(options, async (around) =>
        (await import('./commands/sessions-delete.ts')).deleteSessions(around, names, { olderThan, yes }),
      ),
    );
  auditing(cordon.command('audit').enablePositionalOptions());
  remembering(cordon.command('memory').enablePositionalOptions());
  const grants = cordon.command('grants').description('what you agreed to');
  filtering(grants.command('list').description('grants that are in force'))
    .option('--all', 'also those that authorise nothing any more')
    .action((options) =>
      run(options, async (around) => (await import('./commands/grants.ts')).listGrants(around, options)),
    );
  filtering(grants.command('revoke [id]').description('take one back, or those that the options name'))
    .option('--all', 'every one')
    .action((grant: string | undefined, options) =>
      run(options, async (around) =>
        (await import('./commands/grants.ts')).revokeGrants(around, grant, options),
      ),
    );
  shared(grants.command('expire <id>').description('give one an end, or an earlier one'))
    .option('--at <time>', 'a time or a span: 2026-12-01T10:00Z, 2h, today (default: now)')
    .action((grant: string, { at, ...options }) =>
      run(options, async (around) => (await import('./commands/grants.ts')).expireGrant(around, grant, at)),
    );
  filtering(
    grants.command('export').description('all that was ever granted, with what was shown (JSON)'),
  ).action((options) =>
    run(options, async (around) => (await import('./commands/grants.ts')).exportGrants(around, options)),
  );
  const prompts = cordon.command('prompts').enablePositionalOptions();
  shared(prompts.description('questions that wait for your answer')).action((options) =>
    run(options, async (around) => (await import('./commands/prompts.ts')).listPrompts(around)),
  );
  shared(
    prompts.command('answer <id> [answer]').description('allow, deny, or the app to choose; `all` for an id'),
  )
    .option('--once', 'for this once (default)')
    .option('--session', 'for its session')
    .option('--until <time>', 'until a time or for a span: 2026-12-01T10:00Z, 2h, today')
    .option('--always', 'permanently')
    .addOption(repeatable('--edit <name=text>', 'the text that flows instead of the shown one'))
    .action((prompt: string, answer: string | undefined, options) =>
      run(options, async (around) =>
        (await import('./commands/prompts.ts')).answerPrompt(around, prompt, answer, options),
      ),
    );
  shared(cordon.command('init').description('proposes labels for the tools of the installed apps, and asks'))
    .option('--yes', 'take all that is proposed, also where nobody can be asked')
    .action((options) =>
      run(options, async (around) => (await import('./commands/init.ts')).init(around, options)),
    );
  const policy = cordon.command('policy').description('the rules that are in force');
  shared(
    policy.command('show').description('which packs and rules are in force, and what each stops'),
  ).action((options) =>
    run(options, async (around) => (await import('./commands/policy.ts')).showPolicy(around)),
  );
  answered(
    reading(cordon.command('analyze <policy> <trace...>').description('violations in recorded traces')),
  )
    .option('--json', 'one line of JSON for each trace')
    .action((policy: string, traces: string[], options) =>
      run(options, async (around) =>
        (await import('./commands/analyze.ts')).analyze(around, policy, traces, options),
      ),
    );
  answered(
    judging(
      cordon.command('monitor <policy>').description('decides each message that comes in, line by line'),
    ),
  )
    .addOption(
      new Option('--consent <answer>', 'the answer to what has to be asked, for lines without one')
        .choices(['given', 'not-needed'])
        .default('not-needed'),
    )
    .option('--explain', 'tell of each reason how it came about')
    .action((policy: string, options) =>
      run(options, async (around) =>
        (await import('./commands/monitor.ts')).monitor(around, policy, options),
      ),
    );
  reading(cordon.command('explain <policy> <trace>').description('why recorded events would not be allowed'))
    .option('--rule <id>', 'only this rule, also where it only warns')
    .option('--event <path>', 'only this event')
    .option('--json', 'one line of JSON for each decision')
    .action((policy: string, trace: string, options) =>
      run(options, async (around) =>
        (await import('./commands/explain.ts')).explain(around, policy, trace, options),
      ),
    );
  extended(
    cordon
      .command('test [file...]')
      .description('unit tests of policies: files, folders, or all below this one'),
  )
    .option('--require-hits', 'a rule that no test hits is a failure')
    .option('--json', 'one JSON object per line on standard output')
    .action((files: string[], options) =>
      run(options, async (around) => (await import('./commands/test.ts')).test(around, files, options)),
    );
  cordon
    .command('fmt <file...>')
    .description('puts policies in canonical form; `-` is standard input')
    .option('--check', 'change nothing; exit code 1 and the difference if a file is not formatted')
    .option('--json', 'one line of JSON for each file')
    .action((files: string[], options) =>
      run(options, async (around) => (await import('./commands/fmt.ts')).fmt(around, files, options)),
    );
  extended(
    cordon
      .command('check <policy...>')
      .description('finds errors and likely mistakes in policies; `-` is standard input'),
  )
    .option('--json', 'all diagnostics in one line of JSON')
    .addOption(
      new Option('--dialect <name>', 'invariant: refuse what that language lacks')
        .choices(['cordon', 'invariant'])
        .default('cordon'),
    )
    .option('--strict', 'warnings fail, too')
    .option('--apps', 'hold tools against what the configuration says of the installed apps')
    .option('--config <file>', 'the same, with this configuration')
    .addOption(repeatable('--tools <file>', 'hold tools and arguments against these descriptions'))
    .action((files: string[], { json, ...options }) =>
      // Standard output is one line of JSON, so what is told about the configuration must not be.
      run(options, async (around) =>
        (await import('./commands/check.ts')).check(around, files, { ...options, json }),
      ),
    );
  answered(
    reading(
      cordon
        .command('scan <policy-or-file...>')
        .description('policies, or the default set, on logs of any size'),
    ),
  )
    .option('--json', 'one line of JSON for each trace with findings, and one with the counts')
    .option('--sarif', 'SARIF 2.1.0')
    .option('--all', 'with `--json`: traces without findings, too')
    .option('--out <file>', 'where the lines or the SARIF go (default: standard output)')
    .option('--resume <file>', 'keep there how far the scan came, and go on from it')
    .option('--jobs <number>', 'how many work on it (default: one a core)')
    .option('--max-line <bytes>', 'longer lines are reported and not read (default: 64 MiB)')
    .action((files: string[], options) =>
      run(options, async (around) => (await import('./commands/scan.ts')).scan(around, files, options)),
    );
  benching(cordon.command('bench [name] [path...]'));
  return cordon;
}

function benching(bench: Command): void {
  bench
    .description('measures protection, function and cost: a name, `list` or `all`')
    .option('--quick', 'a sample, each benchmark in under two minutes')
    .option('--out <folder>', 'where records and results go (default: in the data folder)')
    .option('--data <folder>', 'data that are not part of the sources')
    .option('--traces <folder>', 'protection, peers: other recorded traces')
    .option('--labels <file>', 'protection, peers: labels of the tools of those')
    .option('--pairs <file>', 'protection: other pairs for the obedient model')
    .option('--part <name>', 'protection: only `recorded` or `obedient`')
    .option('--only <text>', 'only units whose key contains it')
    .option('--model <provider/model>', 'protection, functionality, overhead: a model of a provider plays')
    .option('--base-url <url>', 'an OpenAI-compatible server for the model’s provider')
    .option('--config <file>', 'the configuration, for --model: providers and prices')
    .option('--max-calls <number>', 'with --model: the model calls of this run')
    .option(
      '--max-cost <amount>',
      'with --model: what this run may cost, by the `prices` of the configuration',
    )
    .option('--yes', 'with --model: start; without it the command only prints an estimate')
    .option('--replay <folder>', 'judge again by the answers that a run with --model kept there')
    .option('--go-on', 'go on also from records that another version of the code made')
    .option('--again', 'measure anew what was measured before')
    .option('--json', 'one JSON object per line on standard output')
    .action((name: string | undefined, paths: string[], { json, config, baseUrl, ...options }) =>
      run({ json, config, baseUrl, model: options.model }, async (around) =>
        (await import('./commands/bench.ts')).bench(around, name ?? 'list', paths, options),
      ),
    );
}

/** Its own command line is not looked at by the others' rules. */
function parse([first, ...rest]: readonly string[]): Promise<Command> {
  if (first !== 'run') return program().parseAsync();
  const command = running().name('cordon run').passThroughOptions().exitOverride();
  return command.showHelpAfterError('  help: `cordon run --help`').parseAsync(rest, { from: 'user' });
}

/** Whether the current folder exists: nearly everything that a command names is looked for from there. */
function hasFolder(): boolean {
  try {
    return process.cwd() !== '';
  } catch {
    return false;
  }
}

try {
  if (hasFolder()) await parse(process.argv.slice(2));
  else {
    console.error('cordon: the current folder does not exist any more\n  help: change to another one');
    process.exitCode = EXIT.failed;
  }
} catch (error) {
  if (typeof error === 'object' && error !== null && 'exitCode' in error) {
    // commander has said what is wrong; help and version are no failure.
    process.exitCode = error.exitCode === 0 ? EXIT.done : EXIT.failed;
  } else {
    console.error(`cordon: ${error instanceof Error ? error.message : 'unknown fault'}`);
    process.exitCode = EXIT.failed;
  }
}
