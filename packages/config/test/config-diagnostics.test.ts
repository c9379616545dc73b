// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders as people write them
import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ConfigurationFolder, loadText, problemsOf, summary } from '@cordon/testkit/configuration-folder.ts';

/** Every code: a text that earns it, and what is said, in full. */
const CASES: readonly { readonly about: string; readonly text: string; readonly expected: string[] }[] = [
  {
    about: 'CFG003 syntax: a missing comma',
    text: '{\n  "model": "obedient"\n  "data": "x"\n}',
    expected: [
      '3:3 error CFG003: `,` or `}` should stand here (the file must be JSON; comments and trailing commas are accepted)',
    ],
  },
  {
    about: 'CFG003 syntax: a word that is no value',
    text: '{"apps": nul}',
    expected: [
      '1:10 error CFG003: `nul` is not a JSON value (the file must be JSON; comments and trailing commas are accepted)',
    ],
  },
  {
    about: 'CFG003 syntax: an open string',
    text: '{"apps": "x\n}',
    expected: [
      '1:10 error CFG003: a string has no closing quote (the file must be JSON; comments and trailing commas are accepted)',
    ],
  },
  {
    about: 'CFG003 syntax: an empty file',
    text: '',
    expected: [
      '1:1 error CFG003: the text ends where a value should stand (the file must be JSON; comments and trailing commas are accepted)',
    ],
  },
  {
    about: 'CFG004 a key twice',
    text: '{"apps": {"mail": {"command": "a"}, "mail": {"command": "b"}}}',
    expected: ['1:37 error CFG004 apps.mail: the key `mail` appears a second time (keep one of them)'],
  },
  {
    about: 'CFG005 a wrong type',
    text: '{"apps": {"mail": {"command": "a", "args": ["x", 5], "env": {"PORT": 80}}}}',
    expected: [
      '1:50 error CFG005 apps.mail.args[1]: a string should stand here, not a number ()',
      '1:70 error CFG005 apps.mail.env.PORT: a string should stand here, not a number ()',
    ],
  },
  {
    about: 'CFG005 an array for the whole file',
    text: '[]',
    expected: ['1:1 error CFG005: an object should stand here, not an array ()'],
  },
  {
    about: 'CFG006 an unknown key, with the nearest one',
    text: '{"app": {}, "apps": {"mail": {"comand": "a"}}}',
    expected: [
      '1:2 error CFG006 app: the key `app` is unknown (did you mean `apps`?)',
      '1:30 error CFG009 apps.mail: the app has neither `command` nor `url` nor `instructions` (give exactly one of them)',
      '1:31 error CFG006 apps.mail.comand: the key `comand` is unknown (did you mean `command`?)',
    ],
  },
  {
    about: "CFG006 another client's name for the section",
    text: '{"servers": {}}',
    expected: ['1:2 error CFG006 servers: the key `servers` is unknown (write `mcpServers` or `apps`)'],
  },
  {
    about: 'CFG007 a missing key',
    text: '{"apps": {"mail": {"command": "a", "manifest": {"functionalities": {"send-mail": {"description": "Sends."}}}}}}',
    expected: [
      '1:82 error CFG007 apps.mail.manifest.functionalities.send-mail: the key `request` is missing (write the JSON Schema of the request)',
      '1:82 error CFG007 apps.mail.manifest.functionalities.send-mail: the key `response` is missing (write the JSON Schema of the response)',
    ],
  },
  {
    about: 'CFG008 names',
    text: '{"apps": {"my mail": {"command": "a", "env": {"A-B": "x"}, "manifest": {"irreversible": ["send mail"]}}}}',
    expected: [
      '1:11 error CFG008 apps["my mail"]: `my mail` is no name for an app (use up to 64 letters, digits, `.`, `_` and `-`, beginning with a letter or digit)',
      '1:47 error CFG008 apps["my mail"].env.A-B: `A-B` is no name for an environment variable (use letters, digits and `_`)',
      '1:90 error CFG008 apps["my mail"].manifest.irreversible[0]: `send mail` is no name of a tool (tool names have 1 to 128 printable characters and no spaces)',
    ],
  },
  {
    about: 'CFG008 and CFG005 in what could be installed',
    text: '{"installable": {"my mail": ["send mail"], "rides": "ride-fare"}}',
    expected: [
      '1:18 error CFG008 installable["my mail"]: `my mail` is no name for an app (use up to 64 letters, digits, `.`, `_` and `-`, beginning with a letter or digit)',
      '1:30 error CFG008 installable["my mail"][0]: `send mail` is no name for a functionality (use up to 64 letters, digits, `.`, `_` and `-`, beginning with a letter or digit)',
      '1:53 error CFG005 installable.rides: a list of functionalities, or an app should stand here, not a string ()',
    ],
  },
  {
    about: 'CFG009 two sources, and parts that do not go together',
    text: '{"apps": {"a": {"command": "x", "url": "https://x.example"}, "b": {"url": "https://x.example", "args": []}}}',
    expected: [
      '1:16 error CFG009 apps.a: the app has more than one of `command`, `url` and `instructions` (give exactly one of them)',
      '1:96 error CFG009 apps.b.args: `args` has no meaning for this app (`args` goes with `command`)',
    ],
  },
  {
    about: 'CFG009 a type that contradicts',
    text: '{"mcpServers": {"a": {"type": "http", "command": "x"}}}',
    expected: [
      '1:31 error CFG009 mcpServers.a.type: the type `http` does not fit this app (use `stdio` with `command` and `http` with `url`, or leave `type` out)',
    ],
  },
  {
    about: 'CFG010 the same app in both sections, in another case',
    text: '{"apps": {"mail": {"command": "a"}}, "mcpServers": {"Mail": {"command": "a"}}}',
    expected: [
      '1:53 error CFG010 mcpServers.Mail: an app `Mail` stands in `apps` already (rename or remove one of them)',
    ],
  },
  {
    about: 'CFG010 an address in both spellings',
    text: '{"baseURL": "https://a.example/v1", "baseUrl": "https://b.example/v1"}',
    expected: [
      '1:48 error CFG010 baseUrl: the address appears twice, as `baseURL` and as `baseUrl` (keep `baseURL`)',
    ],
  },
  {
    about: 'CFG011 secrets, never repeated',
    text: '{"apiKey": "sk-1", "providers": {"openai": {"api_key": "sk-2", "apiKeyEnv": "sk-3"}}, "baseURL": "https://me:sk-4@x.example"}',
    expected: [
      '1:2 error CFG011 apiKey: `apiKey` would hold a secret, and secrets are not read from files (set it in the environment, e.g. `OPENAI_API_KEY`, name the variable in `apiKeyEnv`, and replace the key if this file was shared)',
      '1:45 error CFG011 providers.openai.api_key: `api_key` would hold a secret, and secrets are not read from files (set it in the environment, e.g. `OPENAI_API_KEY`, name the variable in `apiKeyEnv`, and replace the key if this file was shared)',
      '1:77 error CFG011 providers.openai.apiKeyEnv: `apiKeyEnv` holds something that is no name of a variable, perhaps the key itself (write the name of the environment variable that holds the key, and replace the key if this file was shared)',
      '1:98 error CFG011 baseURL: the address holds a password (take it out, and hand it over in `headers` from the environment with `${env:NAME}`)',
    ],
  },
  {
    about: 'CFG012 models',
    text: '{"model": "gpt-5", "apps": {"a": {"command": "x", "model": "antropic/claude"}}}',
    expected: [
      '1:11 error CFG012 model: `gpt-5` is no name of a model (write `provider/model`, like `openai/gpt-5-mini`, or `obedient`)',
      '1:60 error CFG012 apps.a.model: the provider `antropic` is unknown (did you mean `anthropic/claude`?)',
    ],
  },
  {
    about: 'CFG013 addresses',
    text: '{"baseURL": "https://x.example/v1?a=1", "apps": {"a": {"url": "ftp://x.example"}}}',
    expected: [
      '1:13 error CFG013 baseURL: `https://x.example/v1?a=1` has a query or fragment, and no path can be added to it (end it after the path, like `http://localhost:11434/v1`)',
      '1:63 error CFG013 apps.a.url: `ftp://x.example` is no http address (write it in full, like `https://example.com/mcp`)',
    ],
  },
  {
    about: 'CFG014 hosts',
    text: '{"apps": {"a": {"command": "x", "manifest": {"network": ["https://api.example.com/x", "*.example.com", "*", "10.0.0.1", "localhost", "bücher.example", "co.uk"]}}}}',
    expected: [
      '1:58 error CFG014 apps.a.manifest.network[0]: `https://api.example.com/x` cannot be allowed: only a host and a port can be named (write `api.example.com`)',
      '1:87 error CFG014 apps.a.manifest.network[1]: `*.example.com` cannot be allowed: there are no wildcards (write `example.com`; its subdomains are included)',
      '1:104 error CFG014 apps.a.manifest.network[2]: `*` cannot be allowed: there is no "everywhere" (name each domain that the app needs)',
      '1:109 error CFG014 apps.a.manifest.network[3]: `10.0.0.1` cannot be allowed: an address needs a port (write it like `10.0.0.1:8080`)',
      '1:121 error CFG014 apps.a.manifest.network[4]: `localhost` cannot be allowed: `localhost` is no domain (write the address with its port, like `127.0.0.1:8080`)',
      '1:134 error CFG014 apps.a.manifest.network[5]: `bücher.example` cannot be allowed: this is no host (write the name in its `xn--` form)',
      '1:152 error CFG014 apps.a.manifest.network[6]: `co.uk` cannot be allowed: everybody can have a name below this one (name the site itself, like `example.co.uk` or `name.github.io`)',
    ],
  },
  {
    about: 'CFG040 credentials',
    text: '{"apps": {"a": {"command": "x", "manifest": {"network": ["example.com", "example.com:80"], "files": {"read": ["/srv/keys"]}, "credentials": {"k": {"header": "Host", "format": "Bearer", "hosts": ["example.com:80", "example.org"], "env": "sk-123"}, "l": {"hosts": ["api.example.com"], "file": "/srv/keys/l"}, "m": {"hosts": ["example.com"]}}}}}}',
    expected: [
      '1:158 error CFG040 apps.a.manifest.credentials.k.header: `host` is no header for a credential (use `Authorization`, or the header that the service names)',
      '1:176 error CFG040 apps.a.manifest.credentials.k.format: the format does not hold the secret exactly once (write it like `Bearer ${secret}`)',
      '1:196 error CFG040 apps.a.manifest.credentials.k.hosts[0]: `example.com:80` is not encrypted (a credential goes over https only)',
      '1:214 error CFG040 apps.a.manifest.credentials.k.hosts[1]: the app may not reach `example.org` (add `example.org` to `network`)',
      '1:237 error CFG040 apps.a.manifest.credentials.k.env: this is no name of a variable (write the name of the variable, not its value)',
      '1:292 error CFG040 apps.a.manifest.credentials.l.file: the app may read the file of this credential (keep it outside of `files`, or take the folder out of them)',
      '1:313 error CFG040 apps.a.manifest.credentials.m: a credential is kept in one place (give `env`, the name of a variable, or `file`, a path)',
    ],
  },
  {
    about: 'CFG015 limits',
    text: '{"apps": {"a": {"command": "x", "manifest": {"limits": {"processes": 0, "callSeconds": 1.5, "memoryMiB": 1e9}}}}}',
    expected: [
      '1:70 error CFG015 apps.a.manifest.limits.processes: `processes` must be a whole number from 1 to 4096 (leave it out for 64)',
      '1:88 error CFG015 apps.a.manifest.limits.callSeconds: `callSeconds` must be a whole number from 1 to 3600 (leave it out for 30)',
      '1:106 error CFG015 apps.a.manifest.limits.memoryMiB: `memoryMiB` must be a whole number from 16 to 65536 (leave it out for 1024)',
    ],
  },
  {
    about: 'CFG015 retries',
    text: '{"retries": {"attempts": 0, "longestWaitMs": 600001, "callSeconds": 2.5, "firstWaitMs": 60000}}',
    expected: [
      '1:26 error CFG015 retries.attempts: `attempts` must be a whole number from 1 to 20 (leave it out for 4)',
      '1:46 error CFG015 retries.longestWaitMs: `longestWaitMs` must be a whole number from 1 to 600000 (leave it out for 20000)',
      '1:69 error CFG015 retries.callSeconds: `callSeconds` must be a whole number from 1 to 3600 (leave it out for 180)',
    ],
  },
  {
    about: 'CFG015 limits of a query',
    text: '{"limits": {"steps": 0, "tokens": 1.5, "seconds": "2", "cost": -1}}',
    expected: [
      '1:22 error CFG015 limits.steps: `steps` must be a whole number from 1 to 1000 (leave it out for 24)',
      '1:35 error CFG015 limits.tokens: `tokens` must be a whole number from 1 to 100000000 (leave it out for 400000)',
      '1:51 error CFG005 limits.seconds: a number should stand here, not a string ()',
      '1:64 error CFG015 limits.cost: `cost` must be an amount from 0 to 1000000 ()',
    ],
  },
  {
    about: 'prices of models that there are not, and half a price',
    text: '{"prices": {"gpt-5": {"input": 1, "output": 2}, "openai/gpt-5": {"input": 1}}}',
    expected: [
      '1:13 error CFG012 prices.gpt-5: `gpt-5` is no name of a model (write `provider/model`, like `openai/gpt-5-mini`, or `obedient`)',
      '1:65 error CFG007 prices["openai/gpt-5"]: the key `output` is missing (write what a million tokens cost)',
    ],
  },
  {
    about: 'CFG060 private addresses of registries',
    text: '{"packages": {"registry": "ftp://a", "registy": "", "privateAddresses": {"npm.corp.example": ["8.8.8.8"], "10.0.0.1": [], "nexus": [], "nexus.": ["10.0.0.1"]}}}',
    expected: [
      '1:27 error CFG013 packages.registry: `ftp://a` is no http address (write it in full, like `https://example.com/mcp`)',
      '1:38 error CFG006 packages.registy: the key `registy` is unknown (write `registry`, `@scope:registry`, `//host/:_authToken`, `//host/:_auth` or `privateAddresses`)',
      '1:95 error CFG060 packages.privateAddresses["npm.corp.example"][0]: `8.8.8.8` is no address of a private network (write it like `10.20.0.15` or `fd00::15`; addresses of the internet need no entry)',
      '1:107 error CFG060 packages.privateAddresses["10.0.0.1"]: `10.0.0.1` is no name of a host (write the name alone, in small letters, like `npm.example.com`)',
      '1:132 error CFG060 packages.privateAddresses.nexus: the name leads nowhere, because its list is empty (list its addresses, or leave the name out)',
      '1:136 error CFG060 packages.privateAddresses["nexus."]: `nexus.` is no name of a host (write the name alone, in small letters, like `npm.example.com`)',
    ],
  },
  {
    about: 'CFG011 and CFG019 credentials of registries',
    text: '{"packages": {"//a.example/:_authToken": "npm_secret", "//b.example/x/:_auth": "${env:NPM}", "//c.example/:_auth": "${secret:npm}", "//d.example:_auth": "", "https://e.example/:_auth": ""}}',
    expected: [
      '1:42 error CFG011 packages["//a.example/:_authToken"]: the credentials of a registry do not stand in the file (write `${secret:NAME}`; `cordon init`, at a terminal, asks for it. Replace the credentials if this file was shared)',
      '1:80 error CFG011 packages["//b.example/x/:_auth"]: the credentials of a registry do not stand in the file (write `${secret:NAME}`; `cordon init`, at a terminal, asks for it. Replace the credentials if this file was shared)',
      '1:116 error CFG019 packages["//c.example/:_auth"]: the secret `npm` is not kept for this file (`cordon init`, at a terminal, asks for it)',
      '1:133 error CFG006 packages["//d.example:_auth"]: the key `//d.example:_auth` is unknown (write `registry`, `@scope:registry`, `//host/:_authToken`, `//host/:_auth` or `privateAddresses`)',
      '1:158 error CFG006 packages["https://e.example/:_auth"]: the key `https://e.example/:_auth` is unknown (write `registry`, `@scope:registry`, `//host/:_authToken`, `//host/:_auth` or `privateAddresses`)',
    ],
  },
  {
    about: 'CFG016 paths and commands',
    text: '{"apps": {"a": {"command": "node app.js", "manifest": {"files": {"read": ["", "~root/x", "*.txt"]}}}}}',
    expected: [
      '1:28 error CFG016 apps.a.command: `node app.js` is no command (write the arguments in `args`)',
      '1:75 error CFG016 apps.a.manifest.files.read[0]: `` is no path that can be used here (name a file or folder)',
      '1:79 error CFG016 apps.a.manifest.files.read[1]: `~root/x` is no path that can be used here (only your own home is known, as `~`; write the path in full)',
      '1:90 error CFG016 apps.a.manifest.files.read[2]: `*.txt` is no path that can be used here (patterns are not understood; name the folder)',
    ],
  },
  {
    about: "CFG017 files that would undo Cordon's protection",
    text: '{"apps": {"a": {"command": "x", "manifest": {"files": {"read": ["/"], "write": ["~", "../project", "~/.local/share/cordon/apps/b"]}}}}}',
    expected: [
      '1:65 error CFG017 apps.a.manifest.files.read[0]: `/` would let the app read the data folder of Cordon (name a folder that does not hold it)',
      '1:81 error CFG017 apps.a.manifest.files.write[0]: `/home` would let the app write everywhere in your home folder (name the folder that it needs)',
      '1:86 error CFG017 apps.a.manifest.files.write[1]: `/home/project` would let the app write the configuration of Cordon (name a folder that does not hold it, or `${state}`)',
      '1:100 error CFG017 apps.a.manifest.files.write[2]: `/home/.local/share/cordon/apps/b` would let the app write the data folder of Cordon (name a folder that does not hold it, or `${state}`)',
    ],
  },
  {
    about: 'CFG018 placeholders',
    text: '{"apps": {"a": {"command": "x", "args": ["${env:USER}", "${workspaceFolder}", "${stat}", "${state"], "env": {"A": "${TOKEN:-x}", "B": "${input:key}"}}}}',
    expected: [
      '1:42 error CFG018 apps.a.args[0]: `${env:USER}` is only replaced in the values of `env` and `headers` (hand the variable over in `env`, where `cordon apps` shows it)',
      '1:57 error CFG018 apps.a.args[1]: `${workspaceFolder}` is no placeholder that Cordon knows (write `${config}`, the folder of this file)',
      '1:79 error CFG018 apps.a.args[2]: `${stat}` is no placeholder that Cordon knows (did you mean `${state}`?)',
      '1:90 error CFG018 apps.a.args[3]: `${state` has no closing brace (write `$${` for a literal `${`)',
      '1:115 error CFG018 apps.a.env.A: `${TOKEN:-x}` is no placeholder that Cordon knows (write `${env:TOKEN}`)',
      '1:135 error CFG018 apps.a.env.B: `${input:key}` is no placeholder that Cordon knows (`cordon init` asks for it once; or put the value into an environment variable and write `${env:NAME}`)',
    ],
  },
  {
    about: 'CFG019 a variable that is not set',
    text: '{"apps": {"a": {"command": "x", "env": {"T": "${env:GITHUB_TOKEN}"}}}}',
    expected: [
      '1:46 error CFG019 apps.a.env.T: the environment variable `GITHUB_TOKEN` is not set (set it before starting cordon, e.g. `export GITHUB_TOKEN=…`)',
    ],
  },
  {
    about: 'CFG020 files that are named and missing',
    text: '{"policy": ["a.gr"], "scenario": "b.json"}',
    expected: [
      '1:13 error CFG020 policy[0]: there is no file `/home/project/a.gr` (paths are relative to the folder of this file)',
      '1:34 error CFG020 scenario: there is no file `/home/project/b.json` (paths are relative to the folder of this file)',
    ],
  },
  {
    about: 'CFG021 texts that name an app',
    text: '{"apps": {"metro-hail": {"command": "x", "manifest": {"functionalities": {"fare": {"description": "Asks Metro Hail.", "request": {}, "response": {}}}}}}}',
    expected: [
      '1:99 error CFG021 apps.metro-hail.manifest.functionalities.fare.description: this text names the app `metro-hail`, and every app would see it (say what is done, not who does it)',
    ],
  },
  {
    about: 'CFG022 texts with hidden characters',
    text: '{"apps": {"a": {"instructions": "Be kind.\\u202e"}, "b": {"instructions": " "}, "c": {"command": "x", "args": ["a\\u0000"]}}}',
    expected: [
      '1:33 error CFG022 apps.a.instructions: the text holds the invisible character `<U+202E>` (remove it: a model would read what a person cannot see)',
      '1:74 error CFG022 apps.b.instructions: the text is empty (write one sentence, or leave the key out)',
      '1:111 error CFG022 apps.c.args[0]: the text holds a character that cannot be passed on (remove the null character or line break)',
    ],
  },
  {
    about: 'CFG023 a tool whose request is no object',
    text: '{"apps": {"a": {"command": "x", "manifest": {"functionalities": {"f": {"description": "Does it.", "tool": "t", "request": {"type": "string"}, "response": {}}}}}}}',
    expected: [
      '1:123 error CFG023 apps.a.manifest.functionalities.f.request: the request of a functionality that a tool serves must be an object (write `"type": "object"` and its `properties`)',
    ],
  },
  {
    about: 'CFG034 restrictions of another client, which must not vanish',
    text: '{"mcpServers": {"a": {"command": "x", "disabledTools": ["rm"]}}}',
    expected: [
      '1:39 error CFG034 mcpServers.a.disabledTools: `disabledTools` restricts the app in another client, and Cordon cannot do the same (remove the key, and state what the app may do in `manifest` or forbid the tools in a policy)',
    ],
  },
];

for (const { about, text, expected } of CASES) {
  test(`refused: ${about}`, () => {
    const result = loadText(text);
    assert.equal(result.ok, false);
    assert.deepEqual(problemsOf(result), expected);
  });
}

const WARNINGS: readonly { readonly about: string; readonly text: string; readonly expected: string[] }[] = [
  {
    about: 'CFG024 an item twice',
    text: '{"apps": {"a": {"command": "x", "manifest": {"network": ["example.com", "EXAMPLE.com"]}}}}',
    expected: [
      '1:73 warning CFG024 apps.a.manifest.network[1]: `example.com` appears twice in this list (remove one of them)',
    ],
  },
  {
    about: 'CFG025 a model without its key',
    text: '{"model": "openai/gpt-5"}',
    expected: [
      '- warning CFG025 OPENAI_API_KEY: the models of `openai` need a key, and there is none in `OPENAI_API_KEY` (`export OPENAI_API_KEY=…`, or give an address that needs none with `--base-url`)',
    ],
  },
  {
    about: 'CFG030 keys of other clients',
    text: '{"mcpServers": {"a": {"command": "x", "autoApprove": ["y"], "timeout": 5}}}',
    expected: [
      "1:39 warning CFG030 mcpServers.a.autoApprove: the key `autoApprove` is not one of Cordon's and has no effect (remove it, or keep it for the other client)",
      "1:61 warning CFG030 mcpServers.a.timeout: the key `timeout` is not one of Cordon's and has no effect (remove it, or keep it for the other client)",
    ],
  },
  {
    about: 'CFG031 a provider key for an app',
    text: '{"apps": {"a": {"command": "x", "env": {"K": "${env:ANTHROPIC_API_KEY}"}}}}',
    expected: [
      '1:46 warning CFG031 apps.a.env.K: this app gets the key of a model provider, `ANTHROPIC_API_KEY` (give the app its own key)',
    ],
  },
  {
    about: 'CFG032 a state folder that is not granted',
    text: '{"apps": {"a": {"command": "x", "env": {"STATE": "${state}"}}}}',
    expected: [
      '1:16 warning CFG032 apps.a: the app gets the name of `${state}`, but its manifest does not give it that folder (add `"${state}"` to `manifest.files.write`)',
    ],
  },
  {
    about: 'CFG033 an address without encryption',
    text: '{"apps": {"a": {"url": "http://x.example/mcp"}}}',
    expected: [
      '1:24 warning CFG033 apps.a.url: everything to and from `x.example` can be read and changed on the way (use `https`)',
    ],
  },
  {
    about: 'CFG035 the old transport',
    text: '{"mcpServers": {"a": {"type": "sse", "url": "https://x.example/sse"}}}',
    expected: [
      "1:31 warning CFG035 mcpServers.a.type: the old `sse` transport is not supported; Cordon tries Streamable HTTP at this address (use the server's Streamable HTTP address and `http`)",
    ],
  },
  {
    about: 'CFG036 rights of an app that has no process',
    text: '{"apps": {"a": {"instructions": "Be kind.", "manifest": {"network": ["example.com"]}}}}',
    expected: [
      '1:58 warning CFG036 apps.a.manifest.network: an app of instructions has no process, so `network` has no effect (remove it)',
    ],
  },
  {
    about: 'CFG037 a key that the file did not ask for by name',
    text: '{"model": "anthropic/claude", "baseURL": "https://x.example/v1"}',
    expected: [
      '- warning CFG037 ANTHROPIC_API_KEY: `ANTHROPIC_API_KEY` is not sent to the address that the file names for `anthropic` (if that address may have it, write `"providers": {"anthropic": {"apiKeyEnv": "ANTHROPIC_API_KEY"}}`)',
      '- warning CFG025 ANTHROPIC_API_KEY: the models of `anthropic` need a key, and there is none in `ANTHROPIC_API_KEY` (`export ANTHROPIC_API_KEY=…`, or give an address that needs none with `--base-url`)',
    ],
  },
];

for (const { about, text, expected } of WARNINGS) {
  test(`warned about: ${about}`, () => {
    const result = loadText(text, { ANTHROPIC_API_KEY: 'sk-ant' });
    assert.equal(result.ok, true);
    assert.deepEqual(problemsOf(result), expected);
  });
}

test('refused: CFG001 files that cannot be read as text', () => {
  using folder = new ConfigurationFolder();
  mkdirSync(join(folder.project, 'cordon.json'));
  folder.write('latin1.json', Uint8Array.from([0x7b, 0xe9, 0x7d]));
  const load = (config?: string) => folder.load({}, config === undefined ? {} : { config });
  assert.deepEqual(problemsOf(load()), [
    '- error CFG001: the file cannot be used: it is a folder (name a text file that you may read)',
  ]);
  assert.deepEqual(problemsOf(load('none.json')), [
    '- error CFG001: the file cannot be used: there is no such file (name a text file that you may read)',
  ]);
  assert.deepEqual(problemsOf(load('latin1.json')), [
    '- error CFG001: the file cannot be used: it is not text in UTF-8 (save it as UTF-8)',
  ]);
  assert.deepEqual(problemsOf(load('/dev/zero')), [
    '- error CFG001: the file cannot be used: it is not a regular file (name a text file that you may read)',
  ]);
});

test('refused: CFG002 a text that is too long, too deep or poisoned', () => {
  const help = '(keep data out of the configuration; name files instead)';
  assert.deepEqual(problemsOf(loadText(`{"model": "${'x'.repeat(1024 * 1024)}"}`)), [
    `- error CFG002: the text is longer than 1048576 characters ${help}`,
  ]);
  assert.deepEqual(problemsOf(loadText(' '.repeat(5 * 1024 * 1024))), [
    `- error CFG002: the text is longer than 1048576 characters ${help}`,
  ]);
  assert.deepEqual(problemsOf(loadText('['.repeat(500_000))), [
    `- error CFG002: values are nested more than 32 deep ${help}`,
  ]);
  assert.deepEqual(problemsOf(loadText(`{"apps": [${'0,'.repeat(30_000)}0]}`)), [
    `- error CFG002: there are more than 20000 values ${help}`,
  ]);
  assert.deepEqual(problemsOf(loadText('{"apps": {"__proto__": {}}}')), [
    `- error CFG002: a key is \`__proto__\` ${help}`,
  ]);
});

test('a file of nothing but mistakes is reported within bounds', () => {
  const keys = Array.from({ length: 5000 }, (_, index) => `"unknown${index}": 0`);
  assert.equal(problemsOf(loadText(`{${keys.join(', ')}}`)).length, 100);
});

test('problems of the command line and the environment name the option and the variable', () => {
  const environment = { CORDON_MODEL: 'gpt', OPENAI_BASE_URL: 'nonsense' };
  assert.deepEqual(problemsOf(loadText('{}', environment)), [
    '- error CFG012 CORDON_MODEL: `gpt` is no name of a model (write `provider/model`, like `openai/gpt-5-mini`, or `obedient`)',
    '- error CFG013 OPENAI_BASE_URL: `nonsense` is no http address (write it in full, like `https://example.com/mcp`)',
  ]);
  assert.deepEqual(problemsOf(loadText('{}', {}, { model: 'nobody/x', policy: ['p.gr'] })), [
    '- error CFG012 --model: the provider `nobody` is unknown (use one of openai, anthropic, google, obedient, or give its address with `--base-url` or in `providers`)',
    '- error CFG020 --policy: there is no file `/home/project/p.gr` (paths are relative to the current folder)',
  ]);
  assert.deepEqual(problemsOf(loadText('{}', {}, { baseURL: 'http://localhost:1/v1' })), [
    '- error CFG012 --base-url: a server address was given without a model (add `--model openai/NAME` with the name that the server knows)',
  ]);
});

for (const [what, environment, memory, credentials, message] of [
  ['the key of the store', { CORDON_KEY_FILE: 'KEYS/k' }, '{}', '{}', 'the key of the store'],
  ['the key of the store, in a link', { CORDON_KEY_FILE: 'LINK/k' }, '{}', '{}', 'the key of the store'],
  ['the key of the journal', { CORDON_JOURNAL_KEY_FILE: 'KEYS/k' }, '{}', '{}', 'the key of the journal'],
  ['the key that the file names', {}, '{"key": {"file": "KEYS/k"}}', '{}', 'the key of the store'],
  [
    'the credential of another app',
    {},
    '{}',
    '{"c": {"hosts": ["example.com"], "file": "KEYS/k"}}',
    'the file of a credential',
  ],
  ['no key', {}, '{}', '{"c": {"hosts": ["example.com"], "file": "OTHER/k"}}', null],
] as const) {
  test(`an app asks for a folder with ${what}: ${message === null ? 'it gets it' : 'it is refused'}`, () => {
    using folder = new ConfigurationFolder();
    const [keys, other] = [join(folder.path, 'keys'), join(folder.path, 'other')];
    for (const made of [keys, other]) {
      mkdirSync(made);
      writeFileSync(join(made, 'k'), 'k'.repeat(64), { mode: 0o600 });
    }
    symlinkSync(keys, join(folder.path, 'link'));
    const placed = (text: string) =>
      text.replace('KEYS', keys).replace('LINK', join(folder.path, 'link')).replace('OTHER', other);
    const named = Object.fromEntries(Object.entries(environment).map(([key, path]) => [key, placed(path)]));
    const file = folder.write(
      'own.json',
      placed(`{"memory": ${memory}, "apps": {
        "a": {"command": "x", "manifest": {"files": {"read": ["${keys}"]}}},
        "b": {"command": "x", "manifest": {"network": ["example.com"], "credentials": ${credentials}}}}}`),
    );
    const problems = problemsOf(folder.load(named, { config: file }));
    const refusal = `2:63 error CFG017 apps.a.manifest.files.read[0]: \`/keys\` would let the app read ${message} of Cordon (name a folder that does not hold it)`;
    assert.deepEqual(problems, message === null ? [] : [refusal]);
  });
}

test('a key in the folder of an app is refused, and in that of none is not', () => {
  using folder = new ConfigurationFolder();
  folder.write('cordon.json', '{"apps": {"a": {"command": "x"}}}');
  const keyIn = (app: string) => {
    const state = join(folder.home, '.local/share/cordon/apps', app);
    mkdirSync(state, { recursive: true });
    writeFileSync(join(state, 'k'), 'k'.repeat(64), { mode: 0o600 });
    return problemsOf(folder.load({ CORDON_KEY_FILE: join(state, 'k') })).map((line) => line.slice(0, 60));
  };
  assert.deepEqual(keyIn('a'), ['1:16 error CFG017 apps.a: the key of the store lies in the f']);
  assert.deepEqual(keyIn('b'), []);
});

test('a link to the data folder is seen as the data folder; a link to another folder is not', () => {
  using folder = new ConfigurationFolder();
  mkdirSync(join(folder.home, '.local/share/cordon'), { recursive: true });
  mkdirSync(join(folder.home, 'notes'));
  symlinkSync(join(folder.home, '.local/share/cordon'), join(folder.project, 'innocent'));
  symlinkSync(join(folder.home, 'notes'), join(folder.project, 'fine'));
  const app = (path: string) =>
    `{"apps": {"a": {"command": "x", "manifest": {"files": {"read": ["${path}"]}}}}}`;
  folder.write('cordon.json', app('./innocent/apps'));
  const refused = folder.load();
  assert.equal(refused.ok, false);
  assert.equal(refused.ok ? '' : refused.fault[0]?.code, 'CFG017');
  folder.write('cordon.json', app('./fine'));
  assert.equal(folder.load().ok, true);
});

test('a message never carries a control character of the file', () => {
  const result = loadText('{"\\u001b[2J\\u202e": 0, "apps": {"\\u0007": {}}}');
  assert.equal(result.ok, false);
  for (const problem of result.ok ? [] : result.fault)
    assert.doesNotMatch(summary(problem), /[\p{Cc}\p{Cf}]/u);
});

test('no header may hold a line break, and a variable may, whatever the app is called', () => {
  const entry = (app: string, body: string) => problemsOf(loadText(`{"apps": {"${app}": ${body}}}`));
  for (const app of ['a', 'a.headers']) {
    assert.deepEqual(entry(app, '{"command": "x", "env": {"A": "1\\n2"}}'), []);
    const [problem = ''] = entry(app, '{"url": "https://x.example", "headers": {"A": "1\\n2"}}');
    assert.match(problem, /error CFG022 .*: the text holds a character that cannot be passed on/);
  }
});
