/** In the order of the model's inputs. */
export const WORDS: readonly string[];
