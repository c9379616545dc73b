/**
 * Some providers (Gemini 3) sign the tool calls of their models and answer better, or at all, if the signature comes
 * back with the call on the next turn. The `Model` port knows no such thing, so the broker remembers them.
 *
 * A signature goes only to the provider that made it, with the very call it was made for.
 */
import type { SharedV4ProviderMetadata } from '@ai-sdk/provider';
import { canonicalJson, type ModelToolCall } from '@cordon/core';

const REMEMBERED = 512;
const LONGEST = 64 * 1024;

export class CallSignatures {
  readonly #byCall = new Map<string, SharedV4ProviderMetadata>();

  /** The oldest is forgotten when there are too many; a provider that misses one says so or does without. */
  remember(model: string, call: ModelToolCall, signature: SharedV4ProviderMetadata): void {
    if (JSON.stringify(signature).length > LONGEST) return;
    if (this.#byCall.size >= REMEMBERED) {
      for (const oldest of this.#byCall.keys()) {
        this.#byCall.delete(oldest);
        break;
      }
    }
    this.#byCall.set(key(model, call), signature);
  }

  recall(model: string, call: ModelToolCall): SharedV4ProviderMetadata | undefined {
    return this.#byCall.get(key(model, call));
  }
}

/** Name and arguments belong to the key: servers number their calls from 0 again in every context. */
function key(model: string, call: ModelToolCall): string {
  return canonicalJson([model, call.id, call.name, call.arguments]);
}
