// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders as people write them
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ConfigurationFolder, loadText, problemsOf } from '@cordon/testkit/configuration-folder.ts';
import { type Configuration, isProviderConfigured, loadConfiguration, modelInUse } from '../src/config.ts';
import { cacheFolder } from '../src/reading/paths.ts';
import { DEFAULT_PACKS } from '../src/settings/packs.ts';
import { modelForKey } from '../src/settings/provider-config.ts';

function loaded(result: ReturnType<typeof loadText>): Configuration {
  assert.deepEqual(result.ok ? [] : problemsOf(result), []);
  if (!result.ok) throw new Error('not loaded');
  return result.value;
}

test('without a file there are no apps, and it is said where one was looked for', () => {
  using folder = new ConfigurationFolder();
  const configuration = loaded(folder.load());
  assert.equal(configuration.file, null);
  assert.deepEqual(configuration.searched, [
    join(folder.project, 'cordon.json'),
    join(folder.home, '.config/cordon/cordon.json'),
  ]);
  assert.deepEqual(configuration.apps, []);
  assert.equal(configuration.dataFolder, join(folder.home, '.local/share/cordon'));
  assert.equal(modelInUse(configuration), 'obedient');
});

test('the current folder wins over the configuration folder, and --config over both', () => {
  using folder = new ConfigurationFolder();
  const general = join(folder.path, 'xdg');
  mkdirSync(join(general, 'cordon'), { recursive: true });
  writeFileSync(join(general, 'cordon', 'cordon.json'), '{"model": "obedient/careless"}');
  const environment = { XDG_CONFIG_HOME: general };
  assert.equal(loaded(folder.load(environment)).model, 'obedient/careless');
  folder.write('cordon.json', '{"model": "obedient"}');
  assert.equal(loaded(folder.load(environment)).model, 'obedient');
  folder.write('other/that.json', '{"model": "obedient/refusing"}');
  const named = loaded(folder.load(environment, { config: 'other/that.json' }));
  assert.equal(named.model, 'obedient/refusing');
  assert.equal(named.folder, join(folder.project, 'other'));
});

test('folders above the current one are not searched', () => {
  using folder = new ConfigurationFolder();
  folder.write('cordon.json', '{"model": "obedient"}');
  mkdirSync(join(folder.project, 'below'));
  const places = { environment: {}, cwd: join(folder.project, 'below'), home: folder.home };
  assert.equal(loaded(loadConfiguration({ options: {}, ...places })).file, null);
});

test('a relative path in an XDG variable is ignored', () => {
  using folder = new ConfigurationFolder();
  const environment = { XDG_DATA_HOME: 'data', XDG_CACHE_HOME: '/var/cache/me' };
  const configuration = loaded(folder.load(environment));
  assert.equal(configuration.dataFolder, join(folder.home, '.local/share/cordon'));
  const places = { environment, cwd: folder.project, home: folder.home };
  assert.equal(cacheFolder(places), '/var/cache/me/cordon');
});

test('an app without a manifest gets the strict one', () => {
  const [app] = loaded(loadText('{"apps": {"mail": {"command": "node", "args": ["mail.js"]}}}')).apps;
  assert.deepEqual(app, {
    id: 'mail',
    source: { kind: 'command', command: 'node', args: ['mail.js'], env: {}, cwd: null },
    manifest: {
      description: null,
      functionalities: [],
      network: [],
      credentials: [],
      files: { read: [], write: [] },
      limits: {
        memoryMiB: 1024,
        cpuSeconds: 600,
        processes: 64,
        openFiles: 256,
        fileMiB: 64,
        storageMiB: 512,
        files: 10000,
        startSeconds: 30,
        callSeconds: 30,
        silentSeconds: 20,
        idleSeconds: 600,
        totalSeconds: 43200,
        lineBytes: 1048576,
        messagesPerSecond: 100,
      },
      node: [],
      irreversible: null,
      untrusted: null,
      private: null,
    },
    model: null,
  });
});

test('a whole manifest is read, with empty lists kept apart from silence', () => {
  using folder = new ConfigurationFolder();
  folder.write(
    'cordon.json',
    `{
      "data": "./data",
      "apps": {
        "mail": {
          "command": "./bin/mail",
          "args": ["--folder", "\${state}/box", "--literal", "$\${state}", "\${config}/x"],
          "env": { "TOKEN": "t-\${env:MAIL_TOKEN}", "STATE": "\${state}" },
          "cwd": "~/work",
          "model": "ollama/llama3",
          "manifest": {
            "description": "Reads and sends mail.",
            "functionalities": {
              "send-mail": {
                "description": "Sends a mail.",
                "request": { "type": "object", "properties": { "to": { "type": "string" } } },
                "response": { "type": "object" },
                "tool": "send"
              }
            },
            "network": ["Example.com", "=example.org", "127.0.0.1:8080"],
            "credentials": {
              "web": { "hosts": ["api.example.com"], "env": "WEB_TOKEN" },
              "old": { "header": "X-Api-Key", "hosts": ["=example.org"], "file": "~/keys/old" },
            },
            "files": { "read": ["notes", "~/mail"], "write": ["\${state}"] },
            "limits": { "callSeconds": 5 },
            "irreversible": ["send"],
            "untrusted": [],
            "private": ["read"],
          },
        },
      },
      "providers": { "ollama": { "baseURL": "http://127.0.0.1:11434/v1" } },
    }`,
  );
  const configuration = loaded(folder.load({ MAIL_TOKEN: 'secret${state}', WEB_TOKEN: 'x' }));
  const state = join(folder.project, 'data/apps/mail');
  const [app] = configuration.apps;
  assert.deepEqual(app?.source, {
    kind: 'command',
    command: join(folder.project, 'bin/mail'),
    args: ['--folder', `${state}/box`, '--literal', '${state}', `${folder.project}/x`],
    env: { TOKEN: 't-secret${state}', STATE: state },
    cwd: join(folder.home, 'work'),
  });
  assert.equal(app?.model, 'ollama/llama3');
  assert.equal(app?.manifest.description, 'Reads and sends mail.');
  assert.deepEqual(app?.manifest.functionalities, [
    {
      name: 'send-mail',
      description: 'Sends a mail.',
      request: { type: 'object', properties: { to: { type: 'string' } } },
      response: { type: 'object' },
      tool: 'send',
    },
  ]);
  assert.deepEqual(app?.manifest.network, ['example.com', '=example.org', '127.0.0.1:8080']);
  assert.deepEqual(app?.manifest.credentials, [
    {
      name: 'web',
      header: 'authorization',
      format: 'Bearer ${secret}',
      hosts: ['api.example.com'],
      secret: { kind: 'variable', name: 'WEB_TOKEN' },
    },
    {
      name: 'old',
      header: 'x-api-key',
      format: '${secret}',
      hosts: ['=example.org'],
      secret: { kind: 'file', path: join(folder.home, 'keys/old') },
    },
  ]);
  assert.deepEqual(app?.manifest.files, {
    read: [join(folder.project, 'notes'), join(folder.home, 'mail')],
    write: [state],
  });
  assert.equal(app?.manifest.limits.callSeconds, 5);
  assert.equal(app?.manifest.limits.memoryMiB, 1024);
  assert.deepEqual(app?.manifest.irreversible, ['send']);
  assert.deepEqual(app?.manifest.untrusted, []);
  assert.deepEqual(app?.manifest.private, ['read']);
  assert.deepEqual(configuration.handedVariables, [{ app: 'mail', key: 'TOKEN', variable: 'MAIL_TOKEN' }]);
});

test('files of other clients are read: Claude Desktop, Cursor, VS Code', () => {
  const configuration = loaded(
    loadText(
      `// servers
      { /* of mine */ "mcpServers": {
        "filesystem": { "command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "/tmp/x"] },
        "memory": { "type": "stdio", "command": "npx", "args": ["-y", "@modelcontextprotocol/server-memory"], "env": {} },
        "remote": { "type": "http", "url": "https://mcp.example.com/mcp", "headers": { "Authorization": "Bearer \${env:T}" } },
        "old": { "command": "x", "disabled": true, "alwaysAllow": ["a"] },
      } }`,
      { T: 'abc' },
    ),
  );
  assert.deepEqual(
    configuration.apps.map(({ id, source }) => [id, source.kind]),
    [
      ['filesystem', 'command'],
      ['memory', 'command'],
      ['remote', 'url'],
    ],
  );
  assert.deepEqual(configuration.apps[2]?.source, {
    kind: 'url',
    url: 'https://mcp.example.com/mcp',
    headers: { Authorization: 'Bearer abc' },
  });
  assert.deepEqual(configuration.disabledApps, ['old']);
  assert.deepEqual(
    configuration.warnings.map(({ code }) => code),
    ['CFG030'],
  );
});

test('an app can be nothing but instructions', () => {
  const [app] = loaded(
    loadText('{"apps": {"creative-muse": {"instructions": "You write\\nstories."}}}'),
  ).apps;
  assert.deepEqual(app?.source, { kind: 'instructions', instructions: 'You write\nstories.' });
});

test('a functionality may use a word that is also the id of an app, and not a made-up name', () => {
  const text = (description: string) =>
    `{"apps": {"mail": {"command": "x"}, "quick-ride": {"command": "x", "manifest": {"functionalities": {"send": {"description": "${description}", "request": {}, "response": {}}}}}}}`;
  assert.equal(loadText(text('Sends mail.')).ok, true);
  assert.equal(loadText(text('Asks quick-ride.')).ok, false);
});

test('the model comes from the option, then CORDON_MODEL, then the file', () => {
  const text = '{"model": "obedient"}';
  const environment = { CORDON_MODEL: 'google/gemini', GEMINI_API_KEY: 'g', ANTHROPIC_API_KEY: 'a' };
  assert.equal(loaded(loadText(text, environment, { model: 'anthropic/claude' })).model, 'anthropic/claude');
  assert.equal(loaded(loadText(text, environment)).model, 'google/gemini');
  assert.equal(loaded(loadText(text, { CORDON_MODEL: '' })).model, 'obedient');
});

test('keys come from the environment, each provider its own', () => {
  const { providers } = loaded(
    loadText('{}', { OPENAI_API_KEY: 'o', ANTHROPIC_API_KEY: 'a', GEMINI_API_KEY: 'g', OPENAI_BASE_URL: '' }),
  );
  assert.deepEqual(
    [...providers],
    [
      ['openai', { kind: 'openai', key: 'o', keyVariable: 'OPENAI_API_KEY' }],
      ['anthropic', { kind: 'anthropic', key: 'a', keyVariable: 'ANTHROPIC_API_KEY' }],
      ['google', { kind: 'google', key: 'g', keyVariable: 'GEMINI_API_KEY' }],
    ],
  );
});

test('--base-url works with and without a key', () => {
  const options = { model: 'openai/llama3', baseURL: 'http://localhost:11434/v1' };
  const without = loaded(loadText('{}', {}, options));
  assert.deepEqual(without.providers.get('openai'), {
    kind: 'openai-compatible',
    baseUrl: 'http://localhost:11434/v1',
    key: undefined,
    keyVariable: 'OPENAI_API_KEY',
  });
  assert.equal(isProviderConfigured(without), true);
  assert.deepEqual(without.warnings, []);
  const withKey = loaded(loadText('{}', { OPENAI_API_KEY: 'k' }, options));
  assert.equal(withKey.providers.get('openai')?.key, 'k');
});

test('a key goes to an address of the file only where it is named there, or stays on this machine', () => {
  const environment = { OPENAI_API_KEY: 'k' };
  const key = (text: string, options = {}) =>
    loaded(loadText(text, environment, options)).providers.get('openai')?.key;
  assert.equal(key('{"model": "openai/x", "baseURL": "https://evil.example/v1"}'), undefined);
  assert.equal(
    key('{"model": "openai/x", "providers": {"openai": {"baseURL": "https://evil.example/v1"}}}'),
    undefined,
  );
  assert.equal(
    key(
      '{"model": "openai/x", "baseURL": "https://good.example/v1", "providers": {"openai": {"apiKeyEnv": "OPENAI_API_KEY"}}}',
    ),
    'k',
  );
  assert.equal(key('{"model": "openai/x", "baseURL": "http://127.0.0.1:8080/v1"}'), 'k');
  assert.equal(key('{"model": "openai/x"}', { baseURL: 'https://good.example/v1' }), 'k');
});

test("the file's address belongs to the provider of the file's model, not to another one chosen at start", () => {
  const configuration = loaded(
    loadText(
      '{"model": "openai/llama3", "baseURL": "http://localhost:11434/v1"}',
      { ANTHROPIC_API_KEY: 'a' },
      { model: 'anthropic/claude' },
    ),
  );
  assert.deepEqual(configuration.providers.get('anthropic'), {
    kind: 'anthropic',
    key: 'a',
    keyVariable: 'ANTHROPIC_API_KEY',
  });
});

test('a provider counts as configured with a key or an address, the obedient model does not', () => {
  const configured = (text: string, environment = {}) =>
    isProviderConfigured(loaded(loadText(text, environment)));
  assert.equal(configured('{}'), false);
  assert.equal(configured('{}', { OPENAI_API_KEY: 'k' }), false);
  assert.equal(configured('{"model": "obedient"}', { OPENAI_API_KEY: 'k' }), false);
  assert.equal(configured('{"model": "openai/gpt-5"}'), false);
  assert.equal(configured('{"model": "openai/gpt-5"}', { OPENAI_API_KEY: 'k' }), true);
  assert.equal(
    configured('{"model": "local/x", "providers": {"local": {"baseURL": "http://127.0.0.1:1/v1"}}}'),
    true,
  );
});

test('where no model is named, the key that is in the environment names one', () => {
  assert.deepEqual(modelForKey({ GEMINI_API_KEY: 'k' }), {
    model: 'google/gemini-3-pro',
    variable: 'GEMINI_API_KEY',
  });
  assert.deepEqual(modelForKey({ OPENAI_API_KEY: 'k', ANTHROPIC_API_KEY: 'k' })?.model, 'openai/gpt-5-mini');
  assert.equal(modelForKey({ OPENAI_API_KEY: '' }), null);
});

test('a provider with an address of its own may have any name', () => {
  const address = 'http://127.0.0.1:11434/v1';
  const fromOptions = loaded(loadText('{}', {}, { model: 'ollama/llama3', baseURL: address }));
  assert.equal(fromOptions.model, 'ollama/llama3');
  assert.deepEqual(fromOptions.providers.get('ollama'), {
    kind: 'openai-compatible',
    baseUrl: address,
    key: undefined,
    keyVariable: undefined,
  });
  assert.equal(isProviderConfigured(fromOptions), true);
  const fromFile = loaded(loadText(`{"model": "local/qwen", "baseURL": "${address}"}`));
  assert.equal(isProviderConfigured(fromFile), true);
});

test('policies and scenarios are files or lists of files, and options add to them', () => {
  using folder = new ConfigurationFolder();
  const policy = folder.write('rules/a.gr', '');
  const second = folder.write('b.gr', '');
  const scenario = folder.write('s.json', '{}');
  folder.write('cordon.json', '{"policy": "rules/a.gr", "scenario": ["s.json"]}');
  const configuration = loaded(folder.load({}, { policy: ['b.gr'] }));
  assert.deepEqual(configuration.policyFiles, [policy, second]);
  assert.deepEqual(configuration.scenarioFiles, [scenario]);
});

test('a file that the configuration and an option name is used once', () => {
  using folder = new ConfigurationFolder();
  const scenario = folder.write('s.json', '{}');
  const policy = folder.write('a.gr', '');
  folder.write('cordon.json', '{"policy": "./a.gr", "scenario": ["s.json"]}');
  const configuration = loaded(folder.load({}, { policy: ['a.gr'], scenario: ['./s.json', scenario] }));
  assert.deepEqual(configuration.policyFiles, [policy]);
  assert.deepEqual(configuration.scenarioFiles, [scenario]);
});

test('an app may not write a policy, and may read it', () => {
  using folder = new ConfigurationFolder();
  folder.write('rules/a.gr', '');
  const text = (access: string) =>
    `{"policy": "rules/a.gr", "apps": {"a": {"command": "x", "manifest": {"files": {"${access}": ["rules"]}}}}}`;
  folder.write('cordon.json', text('write'));
  assert.equal(folder.load().ok, false);
  folder.write('cordon.json', text('read'));
  assert.equal(folder.load().ok, true);
});

test('the example configuration of the repository loads without a warning', () => {
  const file = join(import.meta.dirname, '../../../examples/cordon.json');
  const result = loadConfiguration({
    options: { config: file },
    environment: {},
    cwd: '/',
    home: '/home/me',
  });
  assert.deepEqual(problemsOf(result), []);
  assert.equal(loaded(result).apps.length, 8);
});

test('what `retries` does not say stays as it is by default', () => {
  assert.deepEqual(loaded(loadText('{"retries": {"attempts": 2, "firstWaitMs": 10}}')).retries, {
    attempts: 2,
    firstWaitMs: 10,
    longestWaitMs: 20_000,
    callSeconds: 180,
  });
  assert.equal(loaded(loadText('{}')).retries.attempts, 4);
});

test('limits and prices of the file are taken, and options take the place of limits', () => {
  using folder = new ConfigurationFolder();
  folder.write(
    'cordon.json',
    '{"limits": {"steps": 5, "cost": 0.5}, "prices": {"openai/gpt-5": {"input": 1.25, "output": 10}}}',
  );
  const file = loaded(folder.load());
  const { steps, tokens, seconds, cost } = file.limits;
  assert.deepEqual([steps, tokens, seconds, cost], [5, 400_000, 1800, 0.5]);
  assert.deepEqual([...file.prices], [['openai/gpt-5', { input: 1.25, output: 10 }]]);
  const options = loaded(
    folder.load({}, { maxSteps: '7', maxTokens: '900', maxSeconds: '30', maxCost: '0.02' }),
  );
  assert.deepEqual(
    [options.limits.steps, options.limits.tokens, options.limits.seconds, options.limits.cost],
    [7, 900, 30, 0.02],
  );
  assert.equal(loaded(loadText('{}')).limits.cost, null);
});

for (const [option, given] of [
  ['maxSteps', '0'],
  ['maxTokens', '1e9'],
  ['maxSeconds', 'ten'],
  ['maxCost', '-1'],
  ['maxCost', 'NaN'],
  ['maxCost', ''],
] as const) {
  test(`${option} of \`${given}\` is refused, and no limit is dropped for it`, () => {
    using folder = new ConfigurationFolder();
    assert.equal(folder.load({}, { [option]: given }).ok, false);
  });
}

test('where the file came from is known, and where the user’s own data are, whatever it says', () => {
  using folder = new ConfigurationFolder();
  const own = join(folder.home, '.local/share/cordon');
  assert.equal(loaded(folder.load()).origin, 'none');
  folder.write('cordon.json', '{"data": "./here"}');
  const found = loaded(folder.load());
  assert.deepEqual(
    [found.origin, found.dataFolder, found.ownDataFolder],
    ['found', join(folder.project, 'here'), own],
  );
  assert.equal(loaded(folder.load({}, { config: 'cordon.json' })).origin, 'named');
  assert.equal(loaded(folder.load({ XDG_CONFIG_HOME: join(folder.path, 'x') })).origin, 'found');
  assert.notEqual(found.digest, loaded(loadText('{"data": "./there"}')).digest);
});

test('an entry is kept as it stands, with a digest in the place of each value that may be a secret', () => {
  using folder = new ConfigurationFolder();
  const pin = `sha256:${'a'.repeat(64)}`;
  const entry = {
    command: 'node',
    args: ['app.js', '${state}'],
    env: { TOKEN: 'hunter2', FROM: '${env:MINE}', STATE: '${state}/x', BOTH: '${state}' },
    manifest: { files: { write: ['${state}'] } },
    pin,
  };
  folder.write('cordon.json', JSON.stringify({ apps: { mail: entry } }));
  const { entries } = loaded(folder.load({ MINE: 'my secret' }));
  assert.deepEqual(entries.get('mail' as never), {
    pin,
    configured: {
      command: 'node',
      args: ['app.js', '${state}'],
      env: {
        TOKEN: 'sha256:f52fbd32b2b3b86ff88ef6c490628285f482af15ddcb29541f94bcf526a3f6c7',
        FROM: '${env:MINE}',
        STATE: 'sha256:09f6fd50a1376a60d3a0fab09d60595ad10fad5d836fb0d83e1ccdaeb08cb2a9',
        BOTH: '${state}',
      },
      manifest: { files: { write: ['${state}'] } },
    },
  });
});

test('a pin is a digest, and one of an app of instructions has no effect', () => {
  const wrong = loadText('{"apps": {"a": {"command": "node", "pin": "sha256:12"}}}');
  assert.deepEqual(problemsOf(wrong), [
    '1:43 error CFG041 apps.a.pin: `sha256:12` is not a digest of an app’s description (`cordon apps show` prints it: `sha256:` and 64 digits)',
  ]);
  const text = loadText(`{"apps": {"a": {"instructions": "x", "pin": "sha256:${'0'.repeat(64)}"}}}`);
  assert.deepEqual(
    loaded(text).warnings.map(({ code }) => code),
    ['CFG036'],
  );
});

test('what could be installed is known by what it would serve, without what is installed', () => {
  const file = loaded(
    loadText(
      '{"apps": {"rides": {"instructions": "x"}}, "installable": {"metro": ["ride-fare", "ride-booking"], "quick": ["ride-fare"], "rides": ["ride-fare"]}}',
    ),
  );
  assert.deepEqual(
    [...file.installable],
    [
      ['ride-fare', ['metro', 'quick']],
      ['ride-booking', ['metro']],
    ],
  );
  assert.deepEqual([...loaded(loadText('{}')).installable], []);
});

test('labels reach the manifests of the apps that they speak of, the closest last', () => {
  const labels = '{"tools": {"*/get_*": {"readOnly": true}, "mail/get_*": {"outward": false}}}';
  const apps = '{"mail": {"command": "m"}, "web": {"command": "w"}}';
  const [mail, web] = loaded(loadText(`{"apps": ${apps}, "labels": ${labels}}`)).apps;
  assert.deepEqual(mail?.manifest.labels, [
    { app: null, tool: 'get_*', says: { readOnly: true } },
    { app: null, tool: 'get_*', says: { outward: false } },
  ]);
  assert.deepEqual(web?.manifest.labels, [{ app: null, tool: 'get_*', says: { readOnly: true } }]);
});

test('labels of an app that is not there are an error with the right name', () => {
  const text = '{"apps": {"mail": {"command": "m"}}, "labels": {"tools": {"mial/get": {"readOnly": true}}}}';
  const result = loadText(text);
  assert.ok(!result.ok);
  assert.deepEqual(
    result.fault.map(({ code, help }) => [code, help]),
    [['LAB003', 'did you mean `mail`?']],
  );
});

test('the default packs are in force where the file names none, and those that it names otherwise', () => {
  assert.deepEqual(loaded(loadText('{}')).packs, DEFAULT_PACKS);
  assert.deepEqual(loaded(loadText('{"packs": ["trifecta", "secrets", "trifecta"]}')).packs, [
    'trifecta',
    'secrets',
  ]);
  assert.deepEqual(loaded(loadText('{"packs": []}')).packs, []);
});

test('an unknown pack is an error that names the right one', () => {
  const result = loadText('{"packs": ["secret"]}');
  assert.ok(!result.ok);
  assert.deepEqual(
    result.fault.map(({ code, help }) => [code, help]),
    [['CFG045', 'did you mean `secrets`?']],
  );
});

test('nobody answers what detectors ask unless the file says who', () => {
  const silent = loaded(loadText('{}')).asking;
  assert.deepEqual([silent.model, silent.endpoints.size, silent.seconds], [null, 0, 30]);
  const { asking } = loaded(
    loadText(
      '{"detectors": {"model": "obedient", "seconds": 5, "ocr": {"url": "http://localhost:1/ocr"}, "embedding": {"url": "http://localhost:1/e", "model": "m", "apiKeyEnv": "E_KEY"}}}',
    ),
  );
  assert.deepEqual(
    [asking.model, asking.seconds, [...asking.endpoints]],
    [
      'obedient',
      5,
      [
        ['embedding', { url: 'http://localhost:1/e', model: 'm', key: null }],
        ['ocr', { url: 'http://localhost:1/ocr', model: null, key: null }],
      ],
    ],
  );
});

test('services are named by an address, and keys by the name of a variable', () => {
  const codes = (text: string) => {
    const result = loadText(text);
    return result.ok ? [] : result.fault.map(({ code }) => code);
  };
  assert.deepEqual(codes('{"detectors": {"ocr": {}}}'), ['CFG007']);
  assert.deepEqual(codes('{"detectors": {"ocr": {"url": "ftp://x.org/"}}}'), ['CFG013']);
  assert.deepEqual(codes('{"detectors": {"ocr": {"url": "http://localhost/", "apiKey": "k"}}}'), ['CFG011']);
  assert.deepEqual(codes('{"detectors": {"model": "nobody"}}'), ['CFG012']);
  const local = '"model": "local/x", "baseURL": "http://localhost:1/v1"';
  assert.deepEqual(codes(`{${local}, "detectors": {"model": "local/y"}}`), []);
  assert.deepEqual(codes(`{${local}, "detectors": {"model": "other/y"}}`), ['CFG012']);
  assert.deepEqual(codes('{"detectors": {"seconds": 0}}'), ['CFG015']);
});

const FARE_FORMATS =
  '"request": {"type": "object", "properties": {"to": {"type": "string"}}}, "response": {"type": "object"}';

test('an app that could be installed is read as apps are, and is none of them', () => {
  const entry = `{"command": "npx", "args": ["metro-mcp"], "manifest": {"description": "Rides.", "functionalities": {"ride-fare": {"description": "the fare of a ride", ${FARE_FORMATS}}}}}`;
  const file = loaded(loadText(`{"installable": {"metro": ${entry}, "quick": ["ride-fare"]}}`));
  assert.deepEqual(file.apps, []);
  assert.deepEqual(
    file.installableApps.map(({ id: name, source }) => [name, source.kind]),
    [['metro', 'command']],
  );
  assert.deepEqual([...file.installable], [['ride-fare', ['quick', 'metro']]]);
  assert.deepEqual(
    problemsOf(loadText(`{"apps": {"metro": {"command": "x"}}, "installable": {"metro": ${entry}}}`)).map(
      (problem) => problem.slice(0, 40),
    ),
    ['1:55 error CFG010 installable.metro: an '],
  );
});

test('functionalities are described once, and manifests need not say it again', () => {
  const list = `{"ride-fare": {"description": "the fare of a ride", ${FARE_FORMATS}}}`;
  const apps =
    '{"metro": {"command": "m", "manifest": {"functionalities": {"ride-fare": {"tool": "fare"}}}}}';
  const file = loaded(loadText(`{"functionalities": ${list}, "apps": ${apps}}`));
  assert.deepEqual(file.apps[0]?.manifest.functionalities, [
    {
      name: 'ride-fare',
      description: 'the fare of a ride',
      request: { type: 'object', properties: { to: { type: 'string' } } },
      response: { type: 'object' },
      tool: 'fare',
    },
  ]);
  assert.equal(file.functionalities.get('ride-fare')?.description, 'the fare of a ride');
  assert.equal(problemsOf(loadText(`{"apps": ${apps}}`)).length, 3);
});

test('what an app serves is part of what is agreed to, also where the list says it', () => {
  const configured = (description: string) => {
    const list = `{"ride-fare": {"description": "${description}", ${FARE_FORMATS}}}`;
    const apps =
      '{"metro": {"command": "m", "manifest": {"functionalities": {"ride-fare": {"tool": "fare"}}}}}';
    const { entries } = loaded(loadText(`{"functionalities": ${list}, "apps": ${apps}}`));
    return JSON.stringify([...entries.values()].map((entry) => entry.configured));
  };
  assert.equal(configured('the fare of a ride'), configured('the fare of a ride'));
  assert.notEqual(configured('the fare of a ride'), configured('pay somebody'));
});

test('a functionality of the list names no app', () => {
  const list = '{"ride-fare": {"description": "a fare of metro-hail"}}';
  for (const section of ['apps', 'installable']) {
    const problems = problemsOf(
      loadText(`{"functionalities": ${list}, "${section}": {"metro-hail": {"command": "m"}}}`),
    );
    assert.match(problems.join(), /CFG021 functionalities\.ride-fare\.description/);
  }
});
