/** What an app does on the network while nothing can be recorded. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Duplex } from 'node:stream';
import { type TestContext, test } from 'node:test';
import { type Event, HUB_LABEL, ok } from '@cordon/core';
import type { ConfinedProcess, Sandbox, SandboxSpec } from '@cordon/sandbox';
import { openStore } from '@cordon/trace';
import { compilePolicy } from '@cordon/policy';
import { openLoneNetwork } from '../../src/index.ts';
import { app } from '../fixture/app.ts';
