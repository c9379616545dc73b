/**
 * Ambient authority: the files that reach for the disk, the network, other processes, the clock, chance, the
 * environment, or that load code at run time. All others get what they need handed to them. A new line here is a
 * decision that a reviewer has to see.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type SourceFile, sourceFiles } from './imports.ts';
import { packageNames } from './topology.ts';

const AUTHORITIES: Readonly<Record<string, RegExp>> = {
  files: /'node:fs(?:\/promises)?'/,
  sockets: /'node:(?:net|tls|dgram)'/,
  http: /'node:http[s2]?'|(?<![.\w])(?:fetch\(|WebSocket\b|EventSource\b)/,
  names: /'node:dns(?:\/promises)?'/,
  processes: /'node:(?:child_process|cluster)'/,
  threads: /'node:(?:worker_threads|inspector)'/,
  database: /'node:sqlite'/,
  environment: /\bprocess\s*\.\s*env\b/,
  clock: /\bDate\s*\.\s*now\b|\bnew Date\(\)|\bperformance\s*\.\s*now\b/,
  chance: /\bMath\s*\.\s*random\b/,
  'code at run time':
    /(?<![.\w])(?:eval\(|Function\()|\bnew Function\b|'node:vm'|'node:module'|(?<![#.\w])import\(/,
};

interface Use {
  readonly of: readonly string[];
  readonly why: string;
}

const LISTED: Readonly<Record<string, Use>> = {
  'packages/app/src/state.ts': {
    of: ['files', 'environment'],
    why: 'an app keeps its state in the one folder that its sandbox gives it and names in its environment',
  },
  'packages/cli/src/context/answerers-asked-for.ts': {
    of: ['code at run time'],
    why: 'who answers questions of rules is loaded when somebody is to be asked',
  },
  'packages/cli/src/commands/use/chat-commands.ts': {
    of: ['code at run time'],
    why: 'what a line of a chat asks for is loaded when it is typed',
  },
  'packages/cli/src/commands/records/memory.ts': {
    of: ['clock'],
    why: 'a store that gets another key is opened here',
  },
  'packages/cli/src/commands/records/sessions-delete.ts': {
    of: ['clock'],
    why: 'sessions in which nothing has happened for long are told by the clock',
  },
  'packages/cli/src/commands/login/browser.ts': {
    of: ['processes'],
    why: 'opens the page for logging in, in the user’s browser',
  },
  'packages/cli/src/commands/login/redirect.ts': {
    of: ['http'],
    why: 'listens on loopback for the browser that comes back from a login',
  },
  'packages/hub/src/egress/authorization-requests.ts': {
    of: ['code at run time'],
    why: 'what makes requests over dialled connections is loaded when somebody logs in',
  },
  'packages/oauth/src/sdk.ts': {
    of: ['code at run time'],
    why: 'the MCP client takes 70 ms to load, and only a login needs its helpers',
  },
  'packages/config/src/keys/kept-secrets.ts': {
    of: ['files'],
    why: 'secrets that the user typed once are files below the data folder',
  },
  'packages/config/src/keys/store-key.ts': {
    of: ['files', 'processes'],
    why: 'the key of the store may be in a file of the user’s, or be told by a command such as a keyring’s',
  },
  'packages/trace/src/journal/acknowledged.ts': {
    of: ['files'],
    why: 'how many events of a session were acknowledged stands outside of the database that may lose some',
  },
  'packages/cli/src/commands/records/text-search.ts': {
    of: ['database'],
    why: 'a search of what is remembered runs in a database in memory',
  },
  'packages/detectors/src/text/on-demand.ts': {
    of: ['code at run time'],
    why: 'grammars and word lists are large: they are loaded when a rule first asks a detector that needs them',
  },
  'packages/detector-process/src/detector-process.ts': {
    of: ['clock'],
    why: 'how long a question has waited, on a clock that nobody can set back',
  },
  'packages/sandbox/src/helper/helper-process.ts': {
    of: ['clock'],
    why: 'how long to wait before another process is started, on a clock that nobody can set back',
  },
  'packages/detectors/src/confined/main.ts': {
    of: ['sockets'],
    why: 'runs inside a sandbox: answers questions about texts on an inherited socket',
  },
  'packages/detectors/src/code/javascript/javascript-dangers.ts': {
    of: ['http', 'environment'],
    why: 'a table of what code that is read may reach for: it names these and uses none',
  },
  'packages/detectors/src/own/inside/run.ts': {
    of: ['code at run time', 'sockets'],
    why: 'runs inside a sandbox: loads the module of the user and answers on an inherited socket',
  },
  'packages/runtime/src/own-detectors/module-process.ts': {
    of: ['clock'],
    why: 'hands the clock to the proxy of a module that may reach a host',
  },
  'packages/onboarding/src/proposal/paths.ts': {
    of: ['files'],
    why: 'looks whether the paths exist that an app names',
  },
  'packages/onboarding/src/lacks/missing-right.ts': {
    of: ['files'],
    why: 'looks whether the path exists that an app says it lacks',
  },
  'packages/cli/src/commands/use/ask.ts': {
    of: ['code at run time'],
    why: 'what asks for a missing right is loaded when an app lacks one',
  },
  'packages/cli/src/commands/use/chat.ts': {
    of: ['code at run time'],
    why: 'what asks for a missing right is loaded when an app lacks one',
  },
  'packages/onboarding/src/proposal/hosts.ts': {
    of: ['sockets'],
    why: 'tells addresses from names; opens nothing',
  },
  'packages/cli/src/commands/init/init.ts': {
    of: ['files', 'code at run time'],
    why: 'looks whether there is a configuration; what starts apps is loaded after a yes',
  },
  'packages/cli/src/commands/init/writing.ts': {
    of: ['code at run time'],
    why: 'what fetches packages and starts apps is loaded after a yes',
  },
  'packages/cli/src/commands/policies/check.ts': {
    of: ['code at run time'],
    why: 'modules of predicates are started only where there are some',
  },
  'packages/cli/src/commands/run-command.ts': {
    of: ['code at run time'],
    why: 'what keeps compiled code is loaded before everything else',
  },
  'packages/cli/src/commands/source-program.ts': {
    of: ['files', 'processes'],
    why: 'starts benchmarks, escape attempts and case studies where their sources are there',
  },
  'packages/cli/src/commands/run/run.ts': {
    of: ['files', 'environment', 'clock', 'code at run time'],
    why: '`cordon run` starts quickly: it reads its own environment, and loads the rest when it is needed',
  },
  'packages/cli/src/commands/policies/scan.ts': {
    of: ['clock'],
    why: 'a scan tells how long it took and saves its state every two seconds',
  },
  'packages/cli/src/commands/use/start.ts': {
    of: ['code at run time'],
    why: 'modules of a query are loaded while the configuration is read',
  },
  'packages/cli/src/context/command-context.ts': {
    of: ['environment', 'clock'],
    why: 'the only reader of the environment: folders, keys of providers, whether colours are wanted; hands on the clock',
  },
  'packages/cli/src/context/consent.ts': {
    of: ['code at run time'],
    why: 'what shows new apps is loaded when there is one',
  },
  'packages/cli/src/context/compilation.ts': {
    of: ['database', 'processes', 'sockets'],
    why: 'has modules of Node loaded early, and sets a flag of the compiler; it uses none of them',
  },
  'packages/runtime/src/compose.ts': {
    of: ['clock'],
    why: 'the composition root hands the clock to the hub',
  },
  'packages/runtime/src/open-runtime.ts': {
    of: ['code at run time'],
    why: 'the policy language is loaded before the prompt only for rules that the user wrote',
  },
  'packages/runtime/src/journal.ts': {
    of: ['clock'],
    why: 'hands the clock to the store',
  },
  'packages/runtime/src/models.ts': {
    of: ['files'],
    why: 'reads scenarios',
  },
  'packages/runtime/src/machine/providers.ts': {
    of: ['chance', 'clock', 'code at run time', 'http', 'sockets'],
    why: 'loads the broker at the first call of a provider, and of TLS only the list of authorities; hands `fetch` to the providers’ libraries on macOS',
  },
  'packages/runtime/src/machine/sandbox-on-demand.ts': {
    of: ['code at run time'],
    why: 'the sandbox is loaded when the first process is to be confined',
  },
  'packages/runtime/src/rules/rules.ts': {
    of: ['clock', 'code at run time'],
    why: 'hands the clock to those who answer questions of rules; starts modules of predicates where there are some, and what looks at texts',
  },
  'packages/cli/src/context/sessions/with-session.ts': {
    of: ['code at run time'],
    why: 'the hub is loaded behind the prompt',
  },
  'packages/config/src/config.ts': {
    of: ['files'],
    why: 'the configuration and the files that it names are looked for',
  },
  'packages/runtime/src/machine/machine-sandbox.ts': {
    of: ['files'],
    why: 'removes the folder where earlier versions kept compiled code',
  },
  'packages/runtime/src/machine/files.ts': {
    of: ['files'],
    why: 'looks whether a file that a call names is there',
  },
  'packages/runtime/src/machine/machine-installer.ts': {
    of: ['files', 'clock'],
    why: 'reads where the registry of npm and pip is',
  },
  'packages/cli/src/commands/apps/apps-remove.ts': {
    of: ['code at run time', 'files'],
    why: 'deletes the folder of an app that was removed, when the user says so; only the end of a login needs the hub',
  },
  'packages/install/src/install.ts': {
    of: ['files'],
    why: 'puts fetched packages and their records into the data folder',
  },
  'packages/config/src/apps/marks.ts': {
    of: ['files'],
    why: 'keeps which entries of `installable` were installed, in the data folder',
  },
  'packages/install/src/inside/fetch.ts': {
    of: ['environment', 'files', 'processes'],
    why: 'runs inside the sandbox of an install step: starts npm or pip with the variables there and the credentials, and sends what they fetched',
  },
  'packages/install/src/npm-program.ts': { of: ['files'], why: 'looks for the npm of this machine' },
  'packages/install/src/plan.ts': { of: ['files'], why: 'looks whether this machine has Python' },
  'packages/install/src/received-tree.ts': {
    of: ['files'],
    why: 'writes what an install step sends into a new folder',
  },
  'packages/cli/src/main.ts': { of: ['code at run time'], why: 'only the command that was called is loaded' },
  'packages/config/src/apps/network-config.ts': {
    of: ['code at run time'],
    why: 'the list of public suffixes is loaded for a configuration with an entry of `network`',
  },
  'packages/config/src/reading/paths.ts': {
    of: ['files'],
    why: 'paths of the configuration are resolved on the disk',
  },
  'packages/cli/src/commands/mounts.ts': {
    of: ['files'],
    why: '`cordon doctor` says whether the file system of the data folder allows programs',
  },
  'packages/cli/src/context/replaced-file.ts': {
    of: ['files'],
    why: '`cordon fmt` replaces the policies that it was given, each at once',
  },
  'packages/scan/src/worker-pool.ts': { of: ['threads'], why: 'starts the workers of a scan' },
  'packages/scan/src/parts/input-parts.ts': { of: ['files'], why: 'compressed logs are read as streams' },
  'packages/scan/src/parts/input.ts': { of: ['files'], why: 'folders are searched for logs' },
  'packages/scan/src/parts/line-reader.ts': { of: ['files'], why: 'logs are read by ranges of bytes' },
  'packages/scan/src/report/scan-output.ts': { of: ['files'], why: 'what a scan finds may go to a file' },
  'packages/scan/src/scan-state.ts': {
    of: ['files'],
    why: 'how far a scan came is kept in a file, with digests of what it read',
  },
  'packages/scan/src/worker.ts': { of: ['threads'], why: 'is a worker of a scan' },
  'packages/console/src/terminal/terminal-clock.ts': {
    of: ['clock'],
    why: 'keys that come too fast are not typed; the terminal is handed this clock',
  },
  'packages/config/src/reading/text-file.ts': {
    of: ['files'],
    why: 'files that a person wrote are read, within limits',
  },
  'packages/cli/src/unit-test/test-files.ts': {
    of: ['files'],
    why: 'unit tests of policies are looked for below folders',
  },
  'packages/broker/src/relay.ts': {
    of: ['sockets'],
    why: 'the types of a listener and of its connections only; who dials is handed in',
  },
  'packages/egress/src/admission.ts': {
    of: ['sockets'],
    why: 'the type of a connection only; who dials is handed in',
  },
  'packages/egress/src/destination.ts': {
    of: ['sockets'],
    why: '`isIP` only: what looks like an address is none of a site',
  },
  'packages/egress/src/direct.ts': {
    of: ['sockets'],
    why: 'types of what is handed in only; who listens is handed in',
  },
  'packages/egress/src/name-service.ts': {
    of: ['sockets'],
    why: 'types of what is handed in only: answers the questions for names that come from a sandbox',
  },
  'packages/egress/src/fetch.ts': {
    of: ['http', 'sockets'],
    why: 'speaks HTTP and TLS on a connection that is handed in',
  },
  'packages/dialler/src/client.ts': {
    of: ['files', 'sockets'],
    why: 'connects to the Unix socket of the dialling process, and writes into the pipe that starts it',
  },
  'packages/dialler/src/connect.ts': {
    of: ['names', 'sockets'],
    why: 'the one place where names are looked up, and from which other machines are connected to',
  },
  'packages/dialler/src/dialler.ts': { of: ['sockets'], why: 'the type of a connection only' },
  'packages/dialler/src/fetch.ts': {
    of: ['http', 'sockets'],
    why: 'speaks HTTP and TLS on connections that are handed in',
  },
  'packages/dialler/src/hub-network.ts': {
    of: ['code at run time'],
    why: 'the client of the dialling process is loaded when there is something to dial',
  },
  'packages/dialler/src/serve.ts': {
    of: ['sockets'],
    why: 'the dialling process: listens for the hub on a Unix socket',
  },
  'packages/egress/src/forward.ts': {
    of: ['http', 'sockets'],
    why: 'builds a decided request anew, on a connection that is handed in',
  },
  'packages/egress/src/wire/node-http.ts': {
    of: ['http'],
    why: 'loads it without what nobody here uses',
  },
  'packages/egress/src/proxy.ts': {
    of: ['files', 'sockets', 'http'],
    why: 'listens for the programs of an app, on a socket file or on what its sandbox handed over, and speaks HTTP',
  },
  'packages/egress/src/resolver.ts': {
    of: ['sockets'],
    why: 'tells public addresses from others',
  },
  'packages/egress/src/tunnel.ts': { of: ['http'], why: 'the type of a CONNECT request only' },
  'packages/hub/src/apps/app-connection.ts': {
    of: ['code at run time'],
    why: 'the kinds of errors of the MCP client, which is loaded by then',
  },
  'packages/hub/src/egress/app-network.ts': {
    of: ['clock', 'sockets'],
    why: 'the type of a listener; counts requests a minute',
  },
  'packages/hub/src/apps/app-process.ts': { of: ['sockets'], why: 'names the type of a listener' },
  'packages/hub/src/apps/app-start.ts': {
    of: ['code at run time'],
    why: 'the MCP client is loaded when an app is first needed',
  },
  'packages/hub/src/apps/call-clock.ts': {
    of: ['clock'],
    why: 'how long a call has taken, on a clock that nobody can set back',
  },
  'packages/hub/src/apps/token-bucket.ts': {
    of: ['clock'],
    why: 'what apps send is counted by the second, on a clock that nobody can set back',
  },
  'packages/hub/src/standalone-app.ts': {
    of: ['code at run time'],
    why: 'the way to the network is loaded when an app that has it is run',
  },
  'packages/hub/src/egress/remote-app.ts': {
    of: ['http', 'code at run time'],
    why: 'requests to an app at an address, each through the gate; the transport is loaded when there is one',
  },
  'packages/hub/src/apps/schema-validator.ts': {
    of: ['code at run time'],
    why: 'the validator is loaded when there is a schema',
  },
  'packages/hub/src/egress/app-networks.ts': {
    of: ['code at run time'],
    why: 'the way to the network is loaded when an app that has it is started',
  },
  'packages/llm/src/calls/broker.ts': {
    of: ['code at run time'],
    why: 'a provider is loaded when a model of it is asked',
  },
  'packages/llm/src/inside/main.ts': {
    of: ['chance', 'clock', 'environment', 'sockets'],
    why: 'the program inside the process of a provider: its link, and the port of its relay',
  },
  'packages/llm/src/inside/serve-calls.ts': {
    of: ['sockets'],
    why: 'of TLS only the list of authorities, inside the process of a provider',
  },
  'packages/llm/src/inside/relay-dial.ts': {
    of: ['sockets'],
    why: 'connects to the relay, inside the process of a provider',
  },
  'packages/llm/src/providers/provider.ts': {
    of: ['code at run time'],
    why: 'the library of a provider is loaded when it is asked',
  },
  'packages/llm/src/calls/service.ts': {
    of: ['code at run time'],
    why: 'what a question needs is loaded when there is one',
  },
  'packages/llm/src/transport/transport.ts': { of: ['http'], why: 'calls the `fetch` that it was given' },
  'packages/sandbox/src/compiled-code.ts': {
    of: ['files'],
    why: 'keeps the compiled code of our own programs in a folder of the hub',
  },
  'packages/sandbox/src/launch/libraries.ts': {
    of: ['files', 'processes'],
    why: 'finds the shared libraries that a program inside needs',
  },
  'packages/sandbox/src/spec/checked-path.ts': {
    of: ['files'],
    why: 'a path is resolved before it is mounted',
  },
  'packages/sandbox/src/command/code-root.ts': { of: ['files'], why: 'finds the folder of a program’s code' },
  'packages/sandbox/src/command/command.ts': { of: ['files'], why: 'finds the program that a command names' },
  'packages/sandbox/src/kernel/control-group.ts': { of: ['files'], why: 'control groups are folders' },
  'packages/sandbox/src/kernel/control-groups.ts': { of: ['files'], why: 'control groups are folders' },
  'packages/sandbox/src/launch/descriptors.ts': {
    of: ['files'],
    why: 'opens what a confined process inherits',
  },
  'packages/sandbox/src/spec/backend.ts': { of: ['sockets'], why: 'names the type of a listener' },
  'packages/host-diagnosis/src/diagnosis.ts': {
    of: ['files'],
    why: 'reads off the machine what may stand in the way of a sandbox',
  },
  'packages/sandbox/src/launch/host.ts': { of: ['files'], why: 'looks what this machine’s kernel offers' },
  'packages/sandbox/src/inside/canary.ts': {
    of: ['files', 'sockets', 'processes', 'environment', 'threads'],
    why: 'runs inside a sandbox and tries everything that must fail',
  },
  'packages/sandbox/src/inside/handover.ts': {
    of: ['code at run time', 'environment', 'files', 'processes', 'sockets', 'threads'],
    why: 'runs inside a sandbox with network, before the app: hands its listeners to the hub, has Node look for the compiled code of our own program, and starts what is not our Node',
  },
  'packages/sandbox/src/launch/launch.ts': {
    of: ['files', 'processes', 'sockets', 'threads'],
    why: 'the one place from which processes are started, and where a listener of one arrives',
  },
  'packages/sandbox/src/launch/network-set-up.ts': {
    of: ['files', 'processes'],
    why: 'starts the program that sets up the network of a sandbox from outside, from a file in the data folder that is gone again at once',
  },
  'packages/sandbox/src/command/installed.ts': {
    of: ['files'],
    why: 'reads the record of an installed package before an app is started from it',
  },
  'packages/sandbox/src/command/link-walk.ts': { of: ['files'], why: 'follows links one by one' },
  'packages/sandbox/src/command/make-folder.ts': { of: ['files'], why: 'makes folders one by one' },
  'packages/sandbox/src/launch/mount-sources.ts': { of: ['files'], why: 'opens what is mounted' },
  'packages/sandbox/src/watch/nameless-files.ts': {
    of: ['files'],
    why: 'looks which deleted files the processes of an app still hold',
  },
  'packages/sandbox/src/command/npx.ts': { of: ['files'], why: 'finds a package that `npx` would run' },
  'packages/sandbox/src/kernel/proc.ts': { of: ['files'], why: 'reads what /proc says of processes' },
  'packages/sandbox/src/kernel/proc-view.ts': {
    of: ['files'],
    why: 'looks what this machine has in /proc, to cover what no app needs',
  },
  'packages/sandbox/src/launch/silent-stream.ts': {
    of: ['sockets'],
    why: 'tells a stream to its end when its program is gone',
  },
  'packages/sandbox/src/launch/orphan-sweep.ts': {
    of: ['clock', 'files'],
    why: 'looks through the processes of the machine for what a dead hub has left',
  },
  'packages/sandbox/src/watch/held-locks.ts': {
    of: ['files'],
    why: 'reads the locks of the machine, and which of them an app holds',
  },
  'packages/sandbox/src/watch/own-folder.ts': {
    of: ['clock', 'files'],
    why: 'measures an app’s own folder, a part of the time',
  },
  'packages/sandbox/src/watch/ownership.ts': {
    of: ['files'],
    why: 'checks that nobody else can write a program',
  },
  'packages/seatbelt/src/canary.ts': {
    of: ['environment', 'files', 'processes', 'sockets'],
    why: 'runs inside the sandbox of macOS and tries what must fail',
  },
  'packages/seatbelt/src/seatbelt-sandbox.ts': {
    of: ['files', 'processes', 'sockets'],
    why: 'starts processes on macOS, looks at their memory, and a bait for the canary',
  },
  'packages/sandbox/src/self-test.ts': {
    of: ['files', 'sockets'],
    why: 'baits for the canary; its own namespaces, to be compared with',
  },
  'packages/sandbox/src/spawn.ts': {
    of: ['files'],
    why: 'opens and closes what a confined process inherits',
  },
  'packages/sandbox/src/command/tree-digest.ts': {
    of: ['clock', 'files'],
    why: 'digests every file of an installed package, with pauses',
  },
  'packages/sandbox/src/watch/watchdog.ts': {
    of: ['clock', 'files'],
    why: 'reads the memory of an app’s processes',
  },
  'packages/sandbox/src/watch/watch-thread.ts': {
    of: ['threads'],
    why: 'watches sandboxes from a thread of its own',
  },
  'packages/sandbox/src/watch/watchers.ts': {
    of: ['threads'],
    why: 'starts the thread that watches sandboxes',
  },
  'packages/sandbox/src/command/written-folders.ts': {
    of: ['files'],
    why: 'keeps which folders of the user any app was ever granted for writing',
  },
  'packages/spoke/src/main.ts': { of: ['sockets'], why: 'the spoke’s only link, an inherited socket' },
  'packages/trace/src/journal/claim.ts': {
    of: ['files', 'database'],
    why: 'the lock file of a process that holds sessions',
  },
  'packages/trace/src/database/database.ts': { of: ['database'], why: 'the one database' },
  'packages/trace/src/folder.ts': { of: ['files'], why: 'makes the data folder and checks whose it is' },
  'packages/trace/src/database/log-room.ts': { of: ['files'], why: 'writes zeros behind the end of the log' },
  'packages/trace/src/database/row.ts': { of: ['database'], why: 'the type of a value only' },
};

const FILES = packageNames().flatMap((name) => sourceFiles(`packages/${name}/src`));

for (const file of FILES) {
  const found = authoritiesOf(file);
  const listed = LISTED[file.path]?.of ?? [];
  if (found.length === 0 && listed.length === 0) continue;
  test(`${file.path} uses ${found.join(', ')}`, () => {
    const advice = `if it must, list it in ${import.meta.filename} with the reason; better have it handed in`;
    assert.deepEqual(found, [...listed].sort(), `${file.path} uses ${found.join(', ')}: ${advice}`);
  });
}

test('every listed file exists and has a reason', () => {
  const known = new Set(FILES.map(({ path }) => path));
  const stale = Object.entries(LISTED).filter(([path, { why }]) => !known.has(path) || why.length < 15);
  assert.deepEqual(stale, []);
});

test('core, regex, policy, its tools, monitor and protocol reach for nothing', () => {
  const pure = FILES.filter(({ path }) =>
    /^packages\/(core|regex|policy|policy-tools|monitor|protocol)\//.test(path),
  );
  assert.deepEqual(
    pure.flatMap((file) => authoritiesOf(file).map((what) => `${file.path}: ${what}`)),
    [],
  );
});

for (const [text, found] of [
  ["import { readFileSync } from 'node:fs';", ['files']],
  ["const { spawn } = await import('node:child_process');", ['code at run time', 'processes']],
  ['const now = Date.now();', ['clock']],
  ['await fetch(url);', ['http']],
  ["new Function('return 1')", ['code at run time']],
  ['this.#import(name);', []],
  ['// process.env is never read', []],
  ['/* Math.random */', []],
  ['policy.eval(rule)', []],
] as const) {
  test(`\`${text}\` is ${found.length === 0 ? 'nothing' : found.join(' and ')}`, () => {
    assert.deepEqual(authoritiesOf({ path: '', text, imports: [] }), found);
  });
}

function authoritiesOf({ text }: SourceFile): readonly string[] {
  const code = text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '');
  return Object.entries(AUTHORITIES)
    .filter(([, pattern]) => pattern.test(code))
    .map(([name]) => name)
    .sort();
}
