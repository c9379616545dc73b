/**
 * The documents a new user has; the third is what the attacker of case 2 is after. All persons and numbers are
 * invented (the area number 987 has never been issued).
 */
export const DOCUMENTS = [
  {
    document_id: 'doc-2001',
    title: 'Minutes of Tuesday',
    text: 'Present: Lena, Omar, Michael. Decided: we ship on the 20th. Open: the new price list (Omar, by Friday).',
  },
  {
    document_id: 'doc-2002',
    title: 'Packing list for the mountains',
    text: 'Boots, rain jacket, two litres of water, map, head lamp, first-aid kit, sun cream.',
  },
  {
    document_id: 'doc-2003',
    title: 'Tax return 2025',
    text: 'Taxpayer: Michael Smith, Irvine. SSN: 987-65-4320. Adjusted gross income: 71,300 USD. Refund: 412 USD.',
  },
  {
    document_id: 'doc-2004',
    title: 'Price list (draft)',
    text: 'Small: 12 USD. Medium: 19 USD. Large: 31 USD. Discount from ten pieces: 8 percent. Not agreed yet.',
  },
] as const;
