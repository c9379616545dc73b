/** A program of `programs` as an app with a network, whose requests and connections are counted and never refused. */
import { text } from 'node:stream/consumers';
import { HERE } from '@cordon/dialler';
import { AppNetwork } from '@cordon/hub/parts';
import { must, programApp, type Rig } from '@cordon/testkit/isolation/rig.ts';

/**
 * What it prints, as JSON, when it has ended.
 * @param entry of `network` in its manifest
 */
export async function confined<T>(
  rig: Rig,
  program: string,
  args: readonly string[],
  entry: string,
): Promise<T> {
  const app = programApp(program);
  if (app.source.kind !== 'command') throw new Error('a program has a command');
  const installed = {
    ...app,
    source: { ...app.source, args: [...app.source.args, ...args] },
    manifest: { ...app.manifest, network: [entry] },
  };
  const network = new AppNetwork({
    app: installed,
    door: {
      decide: () => Promise.resolve(true),
      onRefused: ({ reason }) => console.error(reason),
      onClosed: () => undefined,
      onQuiet: () => undefined,
    },
    dialler: HERE,
    limits: { requestsPerMinute: 1_000_000, connectionsPerMinute: 1_000_000 },
  });
  const process = must(await rig.apps.launch(installed, network, new AbortController().signal));
  const said = await text(process.stdout);
  await process.ended;
  await network.end();
  return JSON.parse(said);
}
