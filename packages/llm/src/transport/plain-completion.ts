/**
 * A chat completion that came in one piece, as the stream of events it would have been, so that there is one path
 * for both. Only the envelope is looked at here; the provider's library checks the rest as it does for any stream.
 *
 * Source: OpenAI's chat completion object and chat completion chunk object.
 */
import { isJsonObject, type Json, type JsonObject } from '@cordon/core';

/** The text of an event stream, or `null` if `body` is no chat completion with a finish reason. */
export function completionToEvents(body: Json): string | null {
  if (!isJsonObject(body) || !Array.isArray(body.choices)) return null;
  const choice: unknown = body.choices[0];
  if (!isJsonObject(choice) || !isJsonObject(choice.message)) return null;
  // In a body that is complete a missing reason is sloppiness, not the sign of a cut.
  const finish = typeof choice.finish_reason === 'string' ? choice.finish_reason : 'stop';
  const chunk = (delta: JsonObject, finishReason: string | null, more: JsonObject = {}): string => {
    const event = {
      ...envelope(body),
      choices: [{ index: 0, delta, finish_reason: finishReason }],
      ...more,
    };
    return `data: ${JSON.stringify(event)}\n\n`;
  };
  const usage = isJsonObject(body.usage) ? { usage: body.usage } : {};
  return `${chunk(withIndices(choice.message), null)}${chunk({}, finish, usage)}data: [DONE]\n\n`;
}

function envelope(body: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(body).filter(([key]) => ['id', 'created', 'model'].includes(key)));
}

/**
 * In a stream a tool call says which one it continues; in a message its position says it. Some local servers give
 * the arguments as the object itself instead of its text.
 */
function withIndices(message: JsonObject): JsonObject {
  const calls = message.tool_calls;
  if (!Array.isArray(calls)) return message;
  return {
    ...message,
    tool_calls: calls.map((call: Json, index) =>
      isJsonObject(call) ? { ...call, index, function: withText(call.function ?? null) } : call,
    ),
  };
}

function withText(called: Json): Json {
  if (!isJsonObject(called) || !isJsonObject(called.arguments)) return called;
  return { ...called, arguments: JSON.stringify(called.arguments) };
}
