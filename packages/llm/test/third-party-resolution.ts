/**
 * The condition `source` picks our TypeScript; some third-party packages (eventsource-parser) export theirs under
 * it too, which Node does not strip under node_modules. They get their built files here.
 */
import { registerHooks } from 'node:module';

registerHooks({
  resolve(specifier, context, next) {
    if (context.parentURL?.includes('/node_modules/') !== true) return next(specifier, context);
    return next(specifier, {
      ...context,
      conditions: context.conditions.filter((each) => each !== 'source'),
    });
  },
});
