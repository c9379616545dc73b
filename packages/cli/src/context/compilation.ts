/**
 * Has all functions of modules compiled when they are imported: only so are they in the compiled code that Node keeps, and
 * those that run later need not be compiled again in every process. A flag of the command line (`--no-lazy`) would do the
 * same at the price of Node's own compiled code, which is for other flags: 25 ms of the 165 to the prompt. So it is set
 * here, and what of Node nearly every command needs is loaded before.
 *
 * To be imported before all else, by every command alike: code that was kept without the flag is no use with it.
 */
import 'node:child_process';
import 'node:crypto';
import 'node:net';
import 'node:readline';
import 'node:sqlite';
import 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';

setFlagsFromString('--no-lazy');
