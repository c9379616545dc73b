/**
 * The program `cordon`: options and commands. Each command is loaded when it is used, because `chat` must show its
 * prompt at once.
 */

import { Command, InvalidArgumentError, Option } from 'commander';
import { runCommand as run } from './commands/run-command.ts';
import type { CommandContext } from './context/command-context.ts';
import { EXIT, type ExitCode } from './context/exit.ts';
import { VERSION } from './context/version.ts';

/** What a command does with the arguments that were typed and, behind them, the options. */
type Doing<W extends unknown[]> = (context: CommandContext, ...typed: W) => Promise<ExitCode> | ExitCode;

/** The action of a command, which is loaded when it is used. */
function does<W extends unknown[]>(load: () => Promise<Doing<W>>) {
  return function (this: Command, ...typed: W): Promise<void> {
    return run(this.opts(), async (context) => (await load())(context, ...typed));
  };
}

function shared(command: Command): Command {
  return command
    .option(
      '--config <file>',
      'configuration file (default: ./cordon.json, then the one in your home folder)',
    )
    .option('--data <folder>', 'folder for the journal, grants and app state')
    .option('--json', 'print one JSON event per line');
}

/** A command that starts apps. */
function confining(command: Command): Command {
  return shared(command).addOption(weakerSandbox());
}

/** A command that serves queries. */
function asking(command: Command): Command {
  return shared(command)
    .option('--private', 'use no earlier context and remember nothing (the journal still records the query)')
    .option('--verbose', 'show every event')
    .optionsGroup('Model:')
    .option(
      '--model <provider/model>',
      'for example openai/gpt-5, anthropic/claude-sonnet-4-5, google/gemini-3-pro, ollama/llama3',
    )
    .option('--base-url <url>', 'address of an OpenAI-compatible server for the model')
    .addOption(repeatable('--scenario <file>', 'scenario for the built-in demonstration model'))
    .optionsGroup('Rules and isolation:')
    .addOption(repeatable('--policy <file>', 'rules to apply in addition to the default ones'))
    .addOption(ownDetectors())
    .addOption(weakerSandbox())
    .addOption(
      new Option(
        '--isolation <how>',
        'none: all apps share one context, without policy or questions (for comparison)',
      )
        .choices(['spokes', 'none'])
        .default('spokes'),
    )
    .optionsGroup('Questions:')
    .option(
      '--answers <file>',
      'answers to permission questions; `-` reads lines of JSON from standard input',
    )
    .option('--wait [span]', 'wait this long for `cordon prompts answer` in another terminal (default: 1d)')
    .option('--deny-warned', 'deny every question that shows a warning')
    .option('--allow-rest', 'allow every question that shows no warning')
    .option('--deny-all', 'deny every question')
    .option('--pin-unseen', 'trust new or reconfigured apps without review')
    .optionsGroup('Limits:')
    .option('--max-steps <number>', 'model calls per turn (default: 24)')
    .option('--max-tokens <number>', 'tokens per query (default: 400000)')
    .option(
      '--max-seconds <number>',
      'time limit per query, not counting time spent waiting for you (default: 1800)',
    )
    .option('--max-cost <amount>', 'cost limit per query, using the `prices` in the configuration')
    .optionsGroup('Options:');
}

/** A policy, asked about traces: where it comes from and what it is given. */
function judging(command: Command): Command {
  return command
    .addOption(repeatable('--policy <file>', 'an additional policy'))
    .addOption(dialect())
    .addOption(repeatable('--param <name=value>', 'a policy parameter, as JSON or plain text'))
    .option('--params <file>', 'a file of policy parameters, as a JSON object');
}

function dialect(): Option {
  return new Option('--dialect <name>', 'invariant: reject features that Invariant’s language lacks')
    .choices(['cordon', 'invariant'])
    .default('cordon');
}

/** A command that lists grants. */
function filtering(command: Command): Command {
  return shared(command)
    .option('--scope <scope>', 'only grants of this scope, for example exchange or egress')
    .option('--app <app>', 'only grants to or from this app')
    .option('--session <session>', 'only grants of this session')
    .option('--duration <duration>', 'only grants of this duration: once, session, until or permanent');
}

/** As text, because the library that knows them is loaded only by commands that read traces. */
const FORMATS = 'openai-chat, openai-responses, anthropic, gemini, mcp, otel or cordon-journal';

/** A command that reads recorded traces. */
function reading(command: Command): Command {
  return judging(command)
    .option('--format <name>', `format of the traces, if Cordon does not recognise it: ${FORMATS}`)
    .option('--labels <file>', 'labels that tell rules what the tools in the traces do');
}

/** Commands whose rules may call functions of the user's. */
function extended(command: Command): Command {
  return command.addOption(ownDetectors());
}

function ownDetectors(): Option {
  return repeatable('--detectors <file>', 'a module of your own functions for rules');
}

/** Commands about traces whose rules may ask. */
function answered(command: Command): Command {
  return extended(command)
    .option('--ask-models', 'let rules ask the models and services in the configuration')
    .option('--config <file>', 'configuration file for --ask-models');
}

/** `cordon memory`: what is remembered is the user's, to see and to change. */
function remembering(memory: Command): void {
  const load = () => import('./commands/records/memory.ts');
  const owner = ['--owner <name>', '`system`, `vanilla`, `shared`, or an app'] as const;
  const session = ['--session <id>', 'only items of this session'] as const;
  const list = does(async () => (await load()).listMemory);
  shared(memory.description('show, correct or delete what Cordon remembers')).action(list);
  shared(memory.command('list')).description('list whose memory Cordon keeps, and how much').action(list);
  shared(memory.command('show [owner]'))
    .description('show facts, summaries and histories')
    .option(...session)
    .addOption(new Option('--kind <kind>', 'only items of this kind').choices(['fact', 'summary', 'turn']))
    .action(does(async () => (await load()).showMemory));
  shared(memory.command('search <words...>'))
    .description('find items that contain all of these words')
    .option(...owner)
    .action(does(async () => (await load()).searchMemory));
  shared(memory.command('correct <id> <text>'))
    .description('replace the text of an item')
    .action(does(async () => (await load()).correctMemory));
  shared(memory.command('delete [id...]'))
    .description('delete items permanently')
    .option(...owner)
    .option(...session)
    .option('--everything', 'delete the memory of every owner')
    .option('--yes', 'do not ask for confirmation')
    .action(does(async () => (await load()).deleteMemory));
  shared(memory.command('export'))
    .description('print everything, one JSON object per line')
    .option(...owner)
    .option(...session)
    .action(does(async () => (await load()).exportMemory));
  shared(memory.command('prune'))
    .description('delete items that exceed the age or size limit')
    .addOption(wholeNumber('--days <days>', 'overrides `memory.keepDays`'))
    .addOption(wholeNumber('--mib <mebibytes>', 'overrides `memory.keepMiB`'))
    .action(does(async () => (await load()).pruneMemory));
  shared(memory.command('rekey'))
    .description('encrypt the store with the configured key or a new one')
    .option('--new-key-file <file>', 'the new key, if the store already has one')
    .option('--none', 'remove encryption')
    .action(does(async () => (await load()).rekeyMemory));
}

/** From 0 on. */
function wholeNumber(flags: string, description: string): Option {
  return new Option(flags, description).argParser((value) => {
    if (/^\d{1,6}$/.test(value)) return Number(value);
    throw new InvalidArgumentError('expected a whole number.');
  });
}

function repeatable(flags: string, description: string): Option {
  return new Option(flags, `${description} (repeatable)`)
    .argParser((value, before: readonly string[]) => [...before, value])
    .default([], 'none');
}

/** `cordon run`, on its own: what stands behind its options is another program's, and may look like options. */
function running(): Command {
  return new Command('run')
    .description('run any command in the sandbox, for example an MCP server of another client')
    .usage('[options] -- <command...>')
    .helpOption('-h, --help', 'show this help')
    .argument('<command...>', 'the command to run; launchers such as npx use the installed package')
    .option('--manifest <file>', 'a JSON file of rights: files, network, env, limits, state')
    .addOption(repeatable('--read <path>', 'a file or folder that the command may read'))
    .addOption(repeatable('--write <path>', 'a file or folder that the command may read and write'))
    .addOption(repeatable('--network <site>', 'a site that the command may connect to'))
    .addOption(repeatable('--env <name[=value]>', 'an environment variable to pass on, or to set to a value'))
    .option('--state <name>', 'name of a private folder, mounted at /state and kept between runs')
    .addOption(repeatable('--policy <file>', 'rules for its requests, in addition to the default ones'))
    .addOption(weakerSandbox())
    .option('--data <folder>', 'folder for private folders, the journal and the sandbox test')
    .option('--json', 'print Cordon’s own messages as lines of JSON on standard error')
    .action(async (words: string[], options) => {
      await import('./context/compilation.ts');
      // Not `exitCode`: standard input may still be open, and keep this process alive.
      process.exit(await (await import('./commands/run/run.ts')).run(words, options));
    });
}

function weakerSandbox(): Option {
  return new Option('--sandbox <weaker=layer,…>', 'disable sandbox layers; `cordon doctor` lists them');
}

function auditing(audit: Command): void {
  audit.description('show the journal and check that nobody modified it');
  const load = () => import('./commands/records/audit.ts');
  shared(audit.command('verify [session...]'))
    .description('check the hash chain of some or all sessions')
    .addOption(repeatable('--head <id:events:hash>', 'a saved head: its events must still be in the journal'))
    .option('--heads <file>', 'a file of saved heads, one per line')
    .action(does(async () => (await load()).verifyJournal));
  shared(audit.command('heads [session...]'))
    .description('print one line per session to save elsewhere, for `verify --heads`')
    .action(does(async () => (await load()).listHeads));
  shared(audit.command('show <session>'))
    .description('show every event of a session')
    .addOption(wholeNumber('--from <sequence>', 'start at this event'))
    .action(does(async () => (await load()).showJournal));
  shared(audit.command('sign <session...>'))
    .description('sign sessions that were written without the key')
    .action(does(async () => (await load()).signSessions));
}

function program(): Command {
  const cordon = new Command('cordon').description(
    'Runs LLM agents and third-party apps so that no app can control another.',
  );
  // Commands take this over as they are made.
  cordon
    .version(VERSION, '-V, --version', 'show the version')
    .helpOption('-h, --help', 'show this help')
    .exitOverride()
    .showHelpAfterError('  help: `--help` lists arguments and options')
    // A terminal of 80 columns leaves the descriptions fewer than the 40 below which commander does not wrap.
    .configureHelp({ minWidthToWrap: 20 });
  cordon.enablePositionalOptions();
  useCommands(cordon);
  appCommands(cordon);
  policyCommands(cordon);
  recordCommands(cordon);
  machineCommands(cordon);
  return cordon;
}

/** What a user asks, and answers. */
function useCommands(cordon: Command): void {
  cordon.commandsGroup('Use:');
  const resume = ['--resume <session>', 'resume an interrupted session'] as const;
  asking(cordon.command('ask <query>'))
    .description('answer one query')
    .option(...resume)
    .action(does(async () => (await import('./commands/use/ask.ts')).ask));
  asking(cordon.command('chat'))
    .description('answer queries as you type them')
    .option(...resume)
    .action(does(async () => (await import('./commands/use/chat.ts')).chat));
  asking(cordon.command('resume [session]'))
    .description('resume an interrupted query')
    .action(does(async () => (await import('./commands/use/resume.ts')).resume));
  asking(cordon.command('start'))
    .description('chat if a model provider is configured, otherwise play the demo')
    .action(does(async () => (await import('./commands/use/start.ts')).start));
  const load = () => import('./commands/use/prompts.ts');
  const prompts = cordon.command('prompts').enablePositionalOptions();
  shared(prompts.description('list or answer questions that wait for you')).action(
    does(async () => (await load()).listPrompts),
  );
  shared(prompts.command('answer <id> [answer]'))
    .description('answer with allow, deny or an app; use `all` as the id to answer every question')
    .option('--once', 'allow this once (default)')
    .option('--session', 'allow for the session')
    .option('--until <time>', 'allow until a time or for a duration: 2026-12-01T10:00Z, 2h, today')
    .option('--always', 'allow permanently')
    .addOption(repeatable('--edit <name=text>', 'replace the text that will be sent'))
    .action(does(async () => (await load()).answerPrompt));
  confining(cordon.command('demo [case]'))
    .description('play attacks without and with Cordon: the paper’s four, one by number, or all')
    .option('--verbose', 'show every event')
    .action(does(async () => (await import('./commands/use/demo.ts')).demo));
}

/** Apps, and other programs that the sandbox confines. */
function appCommands(cordon: Command): void {
  cordon.commandsGroup('Apps:');
  const load = () => import('./commands/apps/apps.ts');
  const loadReview = () => import('./commands/apps/apps-review.ts');
  // Options behind `install` belong to it, although `apps` and `install` share some.
  const apps = cordon.command('apps').enablePositionalOptions();
  shared(apps.description('show the installed apps and what each may do')).action(
    does(async () => (await load()).apps),
  );
  shared(apps.command('list'))
    .description('list the apps and whether you have agreed to each')
    .action(does(async () => (await load()).listApps));
  shared(apps.command('show <app>'))
    .description('show the full description that you agreed to')
    .action(does(async () => (await load()).showApp));
  confining(apps.command('review [app...]'))
    .description('review new and changed apps')
    .option('--all', 'also review apps that you have already agreed to')
    .option('--yes', 'agree without asking')
    .option('--full', 'show every text and schema')
    .action(does(async () => (await loadReview()).reviewApps));
  confining(apps.command('pin <app> <pin>'))
    .description('agree to an app if its description has this pin')
    .action(does(async () => (await loadReview()).pinApp));
  shared(apps.command('unpin <app>'))
    .description('withdraw your agreement to an app')
    .action(does(async () => (await loadReview()).unpinApp));
  const loadLogin = () => import('./commands/login/login.ts');
  shared(apps.command('login <app>'))
    .description('log in to an app that runs elsewhere (OAuth)')
    .option('--scope <scope>', 'what to grant besides, as the app’s server names it')
    .option('--issuer <url>', 'the authorization server, if you know it')
    .option('--client-id <id>', 'the client that you have registered there for Cordon')
    .option('--client-secret-file <file>', 'a file with the secret of this client')
    .option('--client-metadata <url>', 'a published document that describes the client')
    .addOption(wholeNumber('--port <port>', 'where the browser comes back to (default: any free port)'))
    .option('--no-browser', 'only show the address of the page')
    .option('--yes', 'log in where the app says, without asking')
    .action(does(async () => (await loadLogin()).logInToApp));
  shared(apps.command('logout <app>'))
    .description('revoke and delete the tokens of an app')
    .action(does(async () => (await loadLogin()).logOutOfApp));
  shared(apps.command('search <words...>'))
    .description('search the configured registry')
    .action(does(async () => (await import('./commands/apps/apps-search.ts')).searchApps));
  shared(apps.command('install [app...]'))
    .description('fetch the packages of apps')
    .usage('[options] [app...] | [options] -- <command...>')
    .option('--again', 'update installed packages: show the changes and ask')
    .option('--yes', 'accept the changes without asking')
    .action(does(async () => (await import('./commands/apps/apps-install.ts')).installApps));
  shared(apps.command('remove <app>'))
    .description('remove an app from the configuration')
    .option('--purge', 'also delete its agreement, grants, memory, files and package, and revoke its login')
    .option('--yes', 'do not ask for confirmation')
    .action(does(async () => (await import('./commands/apps/apps-remove.ts')).removeApp));
  cordon.addCommand(running());
  shared(cordon.command('init [file...]'))
    .description('take over the apps of other MCP clients, and propose rights and labels')
    .option('--clients', 'also apps of other clients, beside those of cordon.json')
    .option('--yes', 'accept every proposal without asking')
    .action(does(async () => (await import('./commands/init/init.ts')).init));
}

/** Rules, and recorded traces that they are applied to. */
function policyCommands(cordon: Command): void {
  cordon.commandsGroup('Policies:');
  const policy = cordon.command('policy').description('show the rules in force');
  shared(policy.command('show'))
    .description('list the packs and rules in force, and what each stops')
    .action(does(async () => (await import('./commands/policies/policy.ts')).showPolicy));
  extended(cordon.command('check <policy...>'))
    .description('find errors and likely mistakes in policies; `-` is standard input')
    .option('--json', 'print all diagnostics as one line of JSON')
    .addOption(dialect())
    .option('--strict', 'fail on warnings, too')
    .option('--apps', 'check tool names against the installed apps')
    .option('--config <file>', 'check tool names against the apps of this configuration')
    .addOption(repeatable('--tools <file>', 'check tools and arguments against these tool descriptions'))
    .action((files: string[], { json, ...options }) =>
      // Standard output is one line of JSON, so reports about the configuration go elsewhere.
      run(options, async (context) =>
        (await import('./commands/policies/check.ts')).check(context, files, { ...options, json }),
      ),
    );
  extended(cordon.command('test [file...]'))
    .description('run unit tests of policies (default: all below this folder)')
    .option('--require-hits', 'fail if a rule is hit by no test')
    .option('--json', 'print one JSON object per line')
    .action(does(async () => (await import('./commands/policies/test.ts')).test));
  cordon
    .command('fmt <file...>')
    .description('format policies; `-` is standard input')
    .option('--check', 'change nothing; print the difference and exit with 1 if a file is not formatted')
    .option('--json', 'print one line of JSON per file')
    .action(does(async () => (await import('./commands/policies/fmt.ts')).fmt));
  answered(reading(cordon.command('analyze <policy> <trace...>')))
    .description('find rule violations in recorded traces')
    .option('--json', 'print one line of JSON per trace')
    .action(does(async () => (await import('./commands/policies/analyze.ts')).analyze));
  answered(reading(cordon.command('scan <policy-or-file...>')))
    .description('check logs of any size with your policies or the default ones')
    .option('--json', 'print one line of JSON per trace with findings, and one with totals')
    .option('--sarif', 'print SARIF 2.1.0')
    .option('--all', 'with `--json`: include traces without findings')
    .option('--out <file>', 'file for the JSON lines or SARIF (default: standard output)')
    .option('--resume <file>', 'save progress in this file, and continue from it')
    .option('--jobs <number>', 'number of workers (default: one per core)')
    .option('--max-line <bytes>', 'report longer lines instead of reading them (default: 64 MiB)')
    .action(does(async () => (await import('./commands/policies/scan.ts')).scan));
  reading(cordon.command('explain <policy> <trace>'))
    .description('explain why recorded events would be denied')
    .option('--rule <id>', 'explain only this rule, even if it only warns')
    .option('--event <path>', 'explain only this event')
    .option('--json', 'print one line of JSON per decision')
    .action(does(async () => (await import('./commands/policies/explain.ts')).explain));
  answered(judging(cordon.command('monitor <policy>')))
    .description('decide messages from standard input as they arrive')
    .addOption(
      new Option('--consent <answer>', 'consent to assume for lines that state none')
        .choices(['given', 'not-needed'])
        .default('not-needed'),
    )
    .option('--explain', 'explain each reason')
    .action(does(async () => (await import('./commands/policies/monitor.ts')).monitor));
}

/** What Cordon keeps. */
function recordCommands(cordon: Command): void {
  cordon.commandsGroup('Records:');
  const sessions = cordon.command('sessions').enablePositionalOptions();
  shared(sessions.description('list sessions and which you can resume')).action(
    does(async () => (await import('./commands/records/sessions.ts')).sessions),
  );
  shared(sessions.command('delete [session...]'))
    .description('delete sessions with their journal, history and grants')
    .addOption(wholeNumber('--older-than <days>', 'sessions without activity for this many days'))
    .option('--yes', 'do not ask for confirmation')
    .action(does(async () => (await import('./commands/records/sessions-delete.ts')).deleteSessions));
  remembering(cordon.command('memory').enablePositionalOptions());
  const load = () => import('./commands/records/grants.ts');
  const grants = cordon.command('grants').description('list, revoke or export the permissions that you gave');
  filtering(grants.command('list'))
    .description('list grants in force')
    .option('--all', 'also grants that are no longer in force')
    .action(does(async () => (await load()).listGrants));
  filtering(grants.command('revoke [id]'))
    .description('revoke one grant, or all that match the options')
    .option('--all', 'revoke every grant')
    .action(does(async () => (await load()).revokeGrants));
  shared(grants.command('expire <id>'))
    .description('set an end time, or an earlier one')
    .option('--at <time>', 'a time or a duration: 2026-12-01T10:00Z, 2h, today (default: now)')
    .action(does(async () => (await load()).expireGrant));
  filtering(grants.command('export'))
    .description('print every grant ever given, with the question shown (JSON)')
    .action(does(async () => (await load()).exportGrants));
  auditing(cordon.command('audit').enablePositionalOptions());
}

/** This machine and this version. */
function machineCommands(cordon: Command): void {
  cordon.commandsGroup('Machine:').helpCommand('help [command]', 'show the help of a command');
  confining(cordon.command('doctor'))
    .description('check what the sandbox can confine on this machine')
    .option('--attack [group]', 'also run about two hundred escape attempts')
    .option('--verbose', 'show every attempt')
    .action(does(async () => (await import('./commands/doctor.ts')).doctor));
  // The options are the program's own.
  cordon
    .command('bench [argument...]')
    .description('measure protection, function and cost (see `cordon bench --help`)')
    .helpOption(false)
    .allowUnknownOption()
    .action((words: string[]) =>
      run({ json: words.includes('--json') }, async (context) => {
        const { BENCHMARKS, runSourceProgram } = await import('./commands/source-program.ts');
        return runSourceProgram(context, BENCHMARKS, words);
      }),
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
    console.error('cordon: the current folder no longer exists\n  help: change to another folder');
    process.exitCode = EXIT.failed;
  }
} catch (error) {
  if (typeof error === 'object' && error !== null && 'exitCode' in error) {
    // commander has said what is wrong; help and version are no failure.
    process.exitCode = error.exitCode === 0 ? EXIT.done : EXIT.failed;
  } else {
    console.error(`cordon: ${error instanceof Error ? error.message : 'unknown error'}`);
    process.exitCode = EXIT.failed;
  }
}
