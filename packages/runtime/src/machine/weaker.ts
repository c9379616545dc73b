/**
 * `--sandbox weaker=LAYER,…`: the one way to run anything with less than all layers. It is written by the user, said at
 * every start, and kept in the trace.
 *
 * The layers themselves refuse what may not be left out.
 */

import { nearest } from '@cordon/config/reading';
import type { WantedLayer } from '@cordon/config/run';
import { type Diagnostic, failed, ok, type Result } from '@cordon/core';
import { LAYER_NAMES, LAYERS, type LayerName, parseWeaker } from '@cordon/sandbox/layers';

/** Each layer once. A failure names every layer that does not exist or cannot be left out. */
export function readWeaker(
  wanted: readonly WantedLayer[],
): Result<readonly LayerName[], readonly Diagnostic[]> {
  const layers = new Set<LayerName>();
  const problems: Diagnostic[] = [];
  for (const { name, place } of wanted) {
    const parsed = parseWeaker(name);
    if (parsed.ok) for (const layer of parsed.value) layers.add(layer);
    else {
      const { message, help = '' } = parsed.fault;
      const meant = LAYER_NAMES.some((layer) => layer === name.trim())
        ? null
        : nearest(name.trim(), LAYER_NAMES);
      const said = meant === null ? help : `did you mean \`${meant}\`? ${help}`;
      problems.push({ severity: 'error', code: 'CFG039', ...place, message, help: said });
    }
  }
  return problems.length > 0 ? failed(problems) : ok([...layers]);
}

/** One sentence a layer, for the start and the trace. */
export function weakerNotices(weaker: readonly LayerName[]): readonly string[] {
  return weaker.map((layer) => `WEAKER SANDBOX: without \`${layer}\`, ${LAYERS[layer].without}.`);
}
