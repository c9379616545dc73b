/**
 * The functionalities that every spoke knows, whatever is installed (paper, IV-C1): a list that changed with
 * the installed apps would tell a spoke which apps they are. The user's configuration adds to it; it is fixed for a session.
 */
export interface CatalogueEntry {
  readonly name: string;
  readonly description: string;
}

export const CATALOGUE: readonly CatalogueEntry[] = [
  { name: 'ride-fare', description: 'the fare of a ride between two places' },
  { name: 'ride-booking', description: 'book a ride between two places' },
  { name: 'newest-mail', description: "find mails in the user's mailbox" },
  { name: 'send-mail', description: 'send a mail in the name of the user' },
  { name: 'delete-mail', description: "delete mails from the user's mailbox" },
  { name: 'document-search', description: "find documents in the user's storage" },
  { name: 'document-read', description: "read a document of the user's storage" },
  { name: 'doctor-appointment', description: 'make an appointment with a doctor' },
  { name: 'flight-booking', description: 'book a flight' },
  { name: 'hotel-booking', description: 'book a hotel' },
  { name: 'calendar-search', description: "find events in the user's calendar" },
  { name: 'calendar-entry', description: "add an event to the user's calendar" },
  { name: 'contact-search', description: "find a person in the user's contacts" },
  { name: 'web-search', description: 'search the web' },
  { name: 'web-page', description: 'read a web page' },
  { name: 'message-send', description: 'send a chat message in the name of the user' },
  { name: 'payment', description: 'pay somebody' },
  { name: 'note-keeping', description: 'keep or find a note' },
  { name: 'translation', description: 'translate a text' },
  { name: 'weather', description: 'the weather at a place' },
];
