/**
 * A real browser for tests: Chromium without a window, spoken to over a pipe in the DevTools protocol. It has a fresh
 * profile, and nothing that it would fetch on its own account.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { isJsonObject, type Json, type JsonObject, parseJson } from '@cordon/core';

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** The program; null: there is none on this machine. */
export const CHROMIUM: string | null = PLACES.find((place) => existsSync(place)) ?? null;

const FLAGS = [
  '--headless=new',
  '--remote-debugging-pipe',
  // Tests run as root in containers; the page is ours, and its texts are what is being tested.
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--disable-sync',
  '--disable-extensions',
  '--disable-dev-shm-usage',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-default-apps',
  '--disable-domain-reliability',
  '--no-first-run',
  '--no-default-browser-check',
  '--no-pings',
  '--hide-scrollbars',
];

/** For one answer of the browser. */
const PATIENCE_MS = 300_000;
const SCREENSHOT_LIMITS = { length: 64 * 1024 * 1024, depth: 64, elements: 1_000_000 };

export interface View {
  readonly width: number;
  readonly height: number;
  readonly scheme: 'light' | 'dark';
}

/** One browser with one page. */
export class Chromium implements AsyncDisposable {
  readonly #process: ChildProcess;
  readonly #commands: Writable;
  readonly #profile: string;
  readonly #waiting = new Map<number, (answer: JsonObject) => void>();
  /** What the page complained of: exceptions, errors on the console, refusals of its security policy. */
  readonly complaints: string[] = [];
  /** Addresses that the page asked for. */
  readonly requests: string[] = [];
  #session: string | null = null;
  #number = 0;

  private constructor(program: string) {
    this.#profile = mkdtempSync(join(tmpdir(), 'cordon-chromium-'));
    this.#process = spawn(program, [...FLAGS, `--user-data-dir=${this.#profile}`, 'about:blank'], {
      stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
      env: { PATH: process.env.PATH, HOME: this.#profile },
    });
    const [, , , commands, answers] = this.#process.stdio;
    if (!(commands instanceof Writable) || !(answers instanceof Readable)) throw new Error('no pipe');
    this.#commands = commands;
    this.#read(answers);
  }

  static async start(program: string): Promise<Chromium> {
    const browser = new Chromium(program);
    const { targetInfos } = await browser.send('Target.getTargets');
    const pages = Array.isArray(targetInfos) ? targetInfos.filter((one) => one.type === 'page') : [];
    const attached = await browser.send('Target.attachToTarget', {
      targetId: pages[0]?.targetId ?? '',
      flatten: true,
    });
    browser.#session = String(attached.sessionId);
    for (const domain of ['Page', 'Runtime', 'Log', 'Network']) await browser.send(`${domain}.enable`);
    return browser;
  }

  async view({ width, height, scheme }: View): Promise<void> {
    await this.send('Emulation.setDeviceMetricsOverride', {
      width,
      height,
      deviceScaleFactor: 1,
      mobile: false,
    });
    await this.send('Emulation.setEmulatedMedia', {
      features: [{ name: 'prefers-color-scheme', value: scheme }],
    });
  }

  async open(address: string): Promise<void> {
    await this.send('Page.navigate', { url: address });
  }

  /** The value of an expression in the page, as JSON; it may be a promise. Throws what it throws. */
  async evaluate(expression: string): Promise<Json> {
    const { result, exceptionDetails } = await this.send('Runtime.evaluate', {
      expression,
      awaitPromise: true,
      returnByValue: true,
    });
    if (exceptionDetails !== undefined) throw new Error(JSON.stringify(exceptionDetails));
    return isJsonObject(result) ? (result.value ?? null) : null;
  }

  /** Waits until an expression is true in the page. What throws is not true yet: the page may just be coming. */
  async until(expression: string): Promise<void> {
    const end = Date.now() + PATIENCE_MS;
    while ((await this.evaluate(`Boolean(${expression})`).catch(() => false)) !== true) {
      if (Date.now() > end) throw new Error(`never: ${expression}; ${this.complaints.join('; ')}`);
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  }

  /** Types as a person does. */
  async type(text: string): Promise<void> {
    await this.send('Input.insertText', { text });
  }

  async press(key: string, code: number): Promise<void> {
    for (const type of ['keyDown', 'keyUp'])
      await this.send('Input.dispatchKeyEvent', {
        type,
        key,
        windowsVirtualKeyCode: code,
        ...(key === 'Enter' && type === 'keyDown' ? { text: '\r' } : {}),
      });
  }

  /** A picture of the whole page as PNG. */
  async picture(): Promise<Uint8Array> {
    const { data } = await this.send('Page.captureScreenshot', { captureBeyondViewport: true });
    return Buffer.from(String(data), 'base64');
  }

  async send(method: string, params: JsonObject = {}): Promise<JsonObject> {
    const id = ++this.#number;
    const session = this.#session === null ? {} : { sessionId: this.#session };
    const answer = new Promise<JsonObject>((resolve, reject) => {
      const late = setTimeout(() => reject(new Error(`no answer to ${method}`)), PATIENCE_MS);
      this.#waiting.set(id, (message) => {
        clearTimeout(late);
        if (isJsonObject(message.result)) resolve(message.result);
        else reject(new Error(`${method}: ${JSON.stringify(message.error)}`));
      });
    });
    this.#commands.write(`${JSON.stringify({ id, method, params, ...session })}\0`);
    return answer;
  }

  #read(answers: Readable): void {
    let rest: Buffer[] = [];
    answers.on('data', (bytes: Buffer) => {
      let from = 0;
      for (let end = bytes.indexOf(0); end >= 0; end = bytes.indexOf(0, from)) {
        this.#take(Buffer.concat([...rest, bytes.subarray(from, end)]).toString('utf8'));
        rest = [];
        from = end + 1;
      }
      rest.push(bytes.subarray(from));
    });
  }

  #take(text: string): void {
    const parsed = parseJson(text, SCREENSHOT_LIMITS);
    if (!parsed.ok || !isJsonObject(parsed.value)) return;
    const message = parsed.value;
    if (typeof message.id === 'number') {
      this.#waiting.get(message.id)?.(message);
      this.#waiting.delete(message.id);
      return;
    }
    const params = isJsonObject(message.params) ? message.params : {};
    switch (message.method) {
      case 'Runtime.exceptionThrown':
        this.complaints.push(JSON.stringify(params.exceptionDetails));
        break;
      case 'Log.entryAdded':
        if (isJsonObject(params.entry) && params.entry.level === 'error')
          this.complaints.push(`${params.entry.text} ${params.entry.url ?? ''}`);
        break;
      case 'Network.requestWillBeSent':
        if (isJsonObject(params.request)) this.requests.push(String(params.request.url));
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = new Promise((resolve) => this.#process.once('exit', resolve));
    this.#process.kill('SIGKILL');
    await ended;
    rmSync(this.#profile, { recursive: true, force: true, maxRetries: 5 });
  }
}
