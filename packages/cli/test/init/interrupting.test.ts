/** Ctrl-C while a command does something that can be stopped. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CommandContext } from '../../src/context/command-context.ts';

for (const ends of ['is done', 'fails'] as const)
  test(`Ctrl-C stops the work, and does what it did before once the work ${ends}`, async () => {
    let heard = 0;
    const own: Pick<CommandContext, 'onInterrupt'> = {
      onInterrupt: () => {
        heard++;
      },
    };
    const context: CommandContext = Object.assign(Object.create(CommandContext.prototype), own);
    const work = context.untilInterrupted(async (signal) => {
      assert.equal(signal.aborted, false);
      context.onInterrupt();
      assert.equal(signal.aborted, true);
      if (ends === 'fails') throw new Error('it failed');
      return 7;
    });
    await (ends === 'fails' ? assert.rejects(work, /it failed/) : work.then((done) => assert.equal(done, 7)));
    assert.equal(heard, 0);
    context.onInterrupt();
    assert.equal(heard, 1);
  });
