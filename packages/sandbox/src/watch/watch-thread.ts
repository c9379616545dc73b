/**
 * The thread of `watchers.ts`: looks at memory, processor, processes and disk of each sandbox, and ends those that take
 * too much.
 *
 * It imports little, so that it starts quickly.
 */

import { workerData } from 'node:worker_threads';
import { ControlGroup } from '../kernel/control-group.ts';
import type { Excess } from '../spec/backend.ts';
import { killKnown } from './known-process.ts';
import { OwnFolders } from './own-folder.ts';
import { processFolders, Watchdog } from './watchdog.ts';
import type { WatchedSandbox, WatchOrder, WatchReport, WatchThreadData } from './watchers.ts';

const { port, units }: WatchThreadData = workerData;
const watchdog = new Watchdog(units);
const ownFolders = new OwnFolders();
const watched = new Map<number, () => void>();

port.on('message', (order: WatchOrder) => {
  if (order.kind === 'begin') watched.set(order.id, begin(order.id, order.sandbox));
  else stop(order.id);
});

function begin(id: number, sandbox: WatchedSandbox): () => void {
  const { root, hasPidNamespace, limits } = sandbox;
  const group = sandbox.group === null ? null : new ControlGroup(sandbox.group);
  const onExcess = (excess: Excess) => {
    stop(id);
    port.postMessage({ id, ...excess } satisfies WatchReport); // first: the hub asks for it when it learns of the end
    for (const process of [sandbox.outer, root]) killKnown(process);
    group?.kill();
  };
  const endings = [
    watchdog.add({ ...sandbox, root: root.pid, counted: group, onExcess }),
    ...sandbox.ownFolders.map((folder) =>
      ownFolders.watch(folder, limits, onExcess, () => processFolders(root.pid, hasPidNamespace)),
    ),
  ];
  return () => {
    for (const end of endings) end();
  };
}

function stop(id: number): void {
  watched.get(id)?.();
  watched.delete(id);
}
