/**
 * The apps that are installed besides those that a task needs, as on a machine that somebody uses: office, chat, bank,
 * files, tickets, travel, of published sets with their own words. Nothing calls them; their descriptions are what counts.
 */
import { type Fault, failed, fault, isJsonObject, type Json, ok, parseJson, type Result } from '@cordon/core';
import { readData } from '../data.ts';
import type { DataFile } from '../evaluation/suite.ts';
import { NOT_IN_SET } from '../functionality/task.ts';
import type { ReplayApp, ReplayTool } from '../runtime/run.ts';

export interface Others {
  readonly apps: readonly ReplayApp[];
  readonly data: readonly DataFile[];
}

/** What a user wrote of each when it was installed; in the order in which they are installed. */
const DESCRIPTIONS: readonly (readonly [module: string, app: string, description: string])[] = [
  ['email_client', 'mail', 'Reads, searches, sends and deletes e-mails.'],
  ['calendar_client', 'calendar', 'Events of the calendar: search, create, move, cancel, invite.'],
  ['cloud_drive_client', 'drive', 'Files in the cloud: search, read, write, share, delete.'],
  ['slack', 'chat', 'Channels and direct messages of a team.'],
  ['banking_client', 'bank', 'Balance, transactions and payments of a bank account.'],
  ['web', 'web', 'Reads and writes web pages.'],
  ['user_account', 'account', 'Personal data and password of the account.'],
  ['file_reader', 'reader', 'Reads files.'],
  ['TicketAPI', 'tickets', 'Support tickets: create, look up, edit, resolve, close.'],
  ['MessageAPI', 'messages', 'Sends and lists messages of a workspace.'],
  ['TwitterAPI', 'social', 'Posts and comments on a social network.'],
  ['MathAPI', 'calculator', 'Calculates.'],
  ['TradingBot', 'stocks', 'Stocks: prices, watch list, account, orders.'],
  ['TravelAPI', 'flights', 'Flights: costs, bookings, insurance, budget, invoices.'],
  ['GorillaFileSystem', 'shell', 'Files and folders on this computer.'],
  ['VehicleControlAPI', 'car', 'Controls a car: doors, engine, lights, fuel, navigation, tyres.'],
];

/** All that there are, in the order in which they are installed; some twice, as people have two mailboxes. */
export function otherApps(folder: string | null): Result<Others, Fault> {
  const suites = readData('scripted/agentdojo/suites.json', folder);
  if (!suites.ok) return suites;
  const bfcl = readData('scripted/bfcl/tools.json', folder);
  if (!bfcl.ok) return bfcl;
  const tools = [...toolsOf(suites.value.text), ...toolsOf(bfcl.value.text)];
  const byModule = Map.groupBy(tools, ({ module }) => module);
  const apps = DESCRIPTIONS.flatMap(([module, id, description]): readonly ReplayApp[] => {
    const own = new Map((byModule.get(module) ?? []).map(({ tool }) => [tool.name, tool]));
    if (own.size === 0) return [];
    return [{ id, manifest: { description }, tools: [...own.values()], answers: [], otherwise: NOT_IN_SET }];
  });
  const second = apps.map((app) => ({ ...app, id: `${app.id}-2` }));
  if (apps.length === 0) return failed(fault('usage', 'the sets hold no tools'));
  return ok({ apps: [...apps, ...second], data: [suites.value.file, bfcl.value.file] });
}

interface OfModule {
  readonly module: string;
  readonly tool: ReplayTool;
}

/** All lists of tools that a file holds. */
function toolsOf(text: string): readonly OfModule[] {
  const parsed = parseJson(text);
  return parsed.ok ? listsIn(parsed.value).flatMap(toolOf) : [];
}

function listsIn(value: Json): readonly Json[] {
  if (Array.isArray(value)) return value;
  if (!isJsonObject(value)) return [];
  const { tools } = value;
  if (Array.isArray(tools)) return tools;
  return Object.values(value).flatMap((inner) => (isJsonObject(inner) ? listsIn(inner) : []));
}

function toolOf(tool: Json): readonly OfModule[] {
  if (!isJsonObject(tool) || !isJsonObject(tool.parameters)) return [];
  const { name, description, module, app, parameters } = tool;
  return [
    {
      module: String(module ?? app),
      tool: { name: String(name), description: String(description), inputSchema: parameters },
    },
  ];
}
