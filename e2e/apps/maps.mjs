/** A map app. MAP is the name that it answers with. */
import { speak } from './lines.mjs';

speak({ route: ({ to }) => `${process.env.MAP}: the way to ${to}` }, { route: { to: { type: 'string' } } });
