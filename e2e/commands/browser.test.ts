/**
 * `@cordon/policy` in a real browser, by the playground: the server is started as a user starts it, Chromium opens the
 * page, and a pointer and a keyboard do the rest. Left out where there is no Chromium; what needs none is in
 * `packages/policy/test/browser.test.ts` and `examples/policy/test`.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, before, describe, test } from 'node:test';
import { CHROMIUM, Chromium } from '../harness/chromium.ts';
import { REPOSITORY } from '../harness/cordon.ts';

const WHY = CHROMIUM === null ? 'there is no Chromium on this machine (apt-get install chromium)' : false;

describe('the playground in Chromium', { skip: WHY }, () => {
  let server: ChildProcess;
  let browser: Chromium;
  let address = '';

  before(async () => {
    const program = `${REPOSITORY}/examples/policy/playground/serve.ts`;
    server = spawn(process.execPath, ['--no-warnings', program, '--port', '0'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = server.stdout === null ? [] : await once(server.stdout, 'data');
    address = /http:\S+/.exec(String(line))?.[0] ?? '';
    browser = await Chromium.start(CHROMIUM ?? '');
  });

  after(async () => {
    server.kill();
    await browser[Symbol.asyncDispose]();
  });

  /** Opens the page with a case, at a width. */
  async function opened(name = 'inbox', width = 1280, scheme: 'light' | 'dark' = 'light'): Promise<void> {
    browser.complaints.length = 0;
    browser.requests.length = 0;
    await browser.view({ width, height: 900, scheme });
    await browser.open(address);
    await browser.until("document.documentElement.dataset.state === 'ready'");
    if (name === 'inbox') return;
    await browser.evaluate(
      `{ const choice = document.getElementById('case'); choice.value = '${name}'; choice.dispatchEvent(new Event('change')) }`,
    );
    await browser.until(
      `!document.getElementById('policy').value.startsWith('# What was read in the inbox')`,
    );
  }

  const textOf = (selector: string): Promise<unknown> =>
    browser.evaluate(`document.querySelector(${JSON.stringify(selector)})?.textContent ?? null`);
  const allOf = (selector: string): Promise<unknown> =>
    browser.evaluate(
      `[...document.querySelectorAll(${JSON.stringify(selector)})].map((one) => one.textContent)`,
    );
  const focused = (): Promise<unknown> =>
    browser.evaluate("document.activeElement.id || document.activeElement.className || 'none'");

  test('it starts with an example: findings, what is undecided, and a verdict before each event', async () => {
    await opened();
    assert.equal(await textOf('#policy-state'), '4 rules, no problems');
    assert.equal(await textOf('#trace-state'), '8 events, read as openai-chat');
    assert.deepEqual(await allOf('.findings .badge'), ['raise', 'warn', 'ask', 'undecided']);
    assert.deepEqual(await allOf('.verdict'), [
      ...['allow', 'allow', 'allow', 'deny'],
      ...['deny', 'ask', 'allow', 'allow'],
    ]);
    assert.deepEqual(await allOf('#trace + *, .lines mark'), ['key-4711']);
    assert.deepEqual(browser.complaints, []);
  });

  test('the first denial is explained: from the source to the sink, with the smallest change', async () => {
    await opened();
    assert.deepEqual(await allOf('details[open] .flow .role'), ['source', 'sink']);
    assert.deepEqual(await allOf('details[open] .flow .summary'), [
      'output of read_inbox',
      'call of send_mail',
    ]);
    assert.equal(
      await textOf('details[open] .change'),
      'Smallest change: it would be allowed if `call.arguments.to != input.owner` did not hold',
    );
  });

  test('it asks nobody but its own server', async () => {
    await opened();
    const elsewhere = browser.requests.filter((one) => !one.startsWith(address) && !one.startsWith('data:'));
    assert.deepEqual(elsewhere, []);
    assert.ok(browser.requests.length > 50);
  });

  test('a mistake is underlined as one types, with message and help, and goes when it is corrected', async () => {
    await opened();
    const place = "const field = document.getElementById('policy'); field.focus();";
    await browser.evaluate(`{ ${place} field.setSelectionRange(field.value.length, field.value.length) }`);
    await browser.type('raise "x" if:\n    (c: ToolCal)\n');
    await browser.until("document.querySelector('.diagnostics')");
    assert.deepEqual(await allOf('.diagnostics .badge'), ['error POL012']);
    assert.deepEqual(await allOf('.diagnostics .note'), ['did you mean `ToolCall`?']);
    assert.deepEqual(await allOf('mark[data-kind~=error]'), ['ToolCal']);
    assert.equal(
      await browser.evaluate("document.querySelector('mark[data-kind~=error]').title"),
      'POL012 there is no type `ToolCal`\ndid you mean `ToolCall`?',
    );
    await browser.evaluate(
      `{ ${place} const end = field.value.lastIndexOf(')'); field.setSelectionRange(end, end) }`,
    );
    await browser.type('l');
    await browser.until("document.querySelector('.diagnostics .badge')?.textContent !== 'error POL012'");
    assert.match(String(await textOf('#policy-state')), /^5 rules, /);
  });

  test('an underlined place and its text lie over each other, however lines wrap', async () => {
    await opened('mistakes', 360);
    const widths = await browser.evaluate(`['policy', 'trace'].map((id) => {
      const area = document.getElementById(id);
      const lines = area.previousElementSibling;
      return [area.clientWidth === lines.clientWidth, area.scrollHeight === area.clientHeight];
    })`);
    assert.deepEqual(widths, [
      [true, true],
      [true, true],
    ]);
  });

  test('a finding that is pressed marks its ranges, and a range leads to its characters', async () => {
    await opened();
    await browser.evaluate("document.querySelectorAll('.findings button.choose')[1].click()");
    assert.deepEqual(await allOf('mark[data-kind~=chosen]'), ['key-4711']);
    assert.equal(
      await browser.evaluate("document.querySelector('.findings [aria-pressed=true] .message').textContent"),
      'a key stands in the text',
    );
    await browser.evaluate(
      "[...document.querySelectorAll('.path')].find((one) => one.textContent === '2.content:27-35').click()",
    );
    const selected = await browser.evaluate(
      "{ const field = document.getElementById('trace'); field.value.slice(field.selectionStart, field.selectionEnd) }",
    );
    assert.equal(selected, 'key-4711');
  });

  test('a question that is answered with yes lets the action happen', async () => {
    await opened();
    await browser.evaluate("document.getElementById('consent').click()");
    assert.equal(await textOf('#decision-count'), '6 allowed, 2 not');
    assert.equal(await textOf('.decisions > li:nth-child(6) .verdict'), 'allow');
  });

  test('all of it can be reached and used with the keyboard', async () => {
    await opened();
    const reached: unknown[] = [];
    await browser.evaluate("document.getElementById('case').focus()");
    for (let presses = 0; presses < 7; presses++) {
      await browser.press('Tab', 9);
      reached.push(await focused());
    }
    assert.deepEqual(reached, ['format', 'policy', 'parameters', 'trace', 'consent', 'path', 'path']);
    await browser.evaluate("document.querySelector('details:not([open]) > summary').focus()");
    await browser.press('Enter', 13);
    assert.equal(await browser.evaluate("document.activeElement.parentElement.hasAttribute('open')"), true);
    await browser.evaluate("document.querySelector('.findings button.choose').focus()");
    await browser.press('Enter', 13);
    assert.equal(await browser.evaluate("document.activeElement.getAttribute('aria-pressed')"), 'true');
  });

  test('every field, button and result has a name for those who do not see it', async () => {
    await opened();
    const { nodes } = await browser.send('Accessibility.getFullAXTree');
    assert.ok(Array.isArray(nodes));
    const roles = ['textbox', 'button', 'combobox', 'checkbox', 'region', 'DisclosureTriangle'];
    const unnamed = nodes.filter(
      (node) => roles.includes(node.role?.value) && !node.name?.value && !node.ignored,
    );
    assert.deepEqual(
      unnamed.map((node) => node.role.value),
      [],
    );
  });

  test('a hostile trace is shown as text: nothing of it runs, loads, or turns the page around', async () => {
    await opened('hostile');
    // What is to run or load does so before the next frames are drawn.
    await browser.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
    assert.equal(await browser.evaluate('document.title'), 'Cordon: policy playground');
    assert.deepEqual(await allOf('img, script:not([src]):not([type]), b'), []);
    assert.match(String(await textOf('.decisions > li .what')), /^user: <img src=x onerror=/);
    assert.match(
      String(await textOf('.decisions > li:nth-child(2) .what')),
      /^user: \\u\{202e\}gnp\.exe \\u\{1b\}/,
    );
    assert.deepEqual(browser.complaints, []);
    assert.deepEqual(
      browser.requests.filter((one) => !one.startsWith(address)),
      [],
    );
  });

  test('the page cannot make markup or code from text, and reaches no other server', async () => {
    await opened();
    const refused = (code: string): Promise<unknown> =>
      browser.evaluate(
        `(async () => { try { ${code}; return 'done' } catch (error) { return error.name } })()`,
      );
    assert.equal(await refused("document.body.innerHTML = '<b>x</b>'"), 'TypeError');
    assert.equal(await refused("document.createElement('script').text = 'x'"), 'TypeError');
    assert.equal(await refused("setTimeout('document.title = 1')"), 'TypeError');
    const stopped = await browser.evaluate(`new Promise((resolve) => {
      document.addEventListener('securitypolicyviolation', (event) => resolve(event.effectiveDirective));
      fetch('http://127.0.0.1:9/').catch(() => {});
    })`);
    assert.equal(stopped, 'connect-src');
  });

  for (const scheme of ['light', 'dark'] as const)
    test(`it fits a narrow screen (${scheme})`, async () => {
      for (const name of ['inbox', 'agents', 'anthropic', 'mistakes', 'hostile']) {
        await opened(name, 360, scheme);
        await browser.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true })");
        assert.equal(await browser.evaluate('document.documentElement.scrollWidth'), 360, name);
      }
      const paper = scheme === 'light' ? 'rgb(246, 245, 242)' : 'rgb(22, 23, 26)';
      assert.equal(await browser.evaluate('getComputedStyle(document.body).backgroundColor'), paper);
    });

  test('a program in the page can use the library by its name', async () => {
    await opened();
    const found = await browser.evaluate(`(async () => {
      const { loadPolicy } = await import('@cordon/policy');
      const { analyze, mask } = await import('@cordon/policy-tools');
      const policy = loadPolicy('warn "k" if:\\n    (m: Message)\\n    any(find("key-(?=4)[0-9]+", m.content))\\n');
      const trace = [{ role: 'user', content: '🔑 key-4711' }];
      const { errors } = analyze(policy.value, trace).value;
      return [errors[0].ranges, mask(trace, errors[0].ranges)];
    })()`);
    assert.deepEqual(found, [['0', '0.content:2-10'], [{ role: 'user', content: '🔑 ********' }]]);
  });
});
