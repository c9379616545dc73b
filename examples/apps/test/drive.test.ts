import assert from 'node:assert/strict';
import { test } from 'node:test';
import { call, onDisk, refusal, TemporaryFolder, withApp } from './app-process.ts';

const accesses = (folder: string): unknown => Object(onDisk(folder, 'drive.json')).accesses;

test('documents are found by the words in them, and every access is on record', async () => {
  using folder = new TemporaryFolder();
  const link = 'https://drive.example/d/doc-2003';
  await withApp('drive', folder.path, async (client) => {
    assert.deepEqual(accesses(folder.path), []);
    assert.deepEqual(await call(client, 'search_documents', { query: 'SSN' }), {
      documents: [{ document_id: 'doc-2003', title: 'Tax return 2025', link }],
    });
    assert.deepEqual(await call(client, 'search_documents', { query: 'price LIST' }), {
      documents: [
        { document_id: 'doc-2001', title: 'Minutes of Tuesday', link: 'https://drive.example/d/doc-2001' },
        { document_id: 'doc-2004', title: 'Price list (draft)', link: 'https://drive.example/d/doc-2004' },
      ],
    });
    assert.deepEqual(await call(client, 'search_documents', { query: 'zebra' }), { documents: [] });
  });
  await withApp('drive', folder.path, async (client) => {
    const document = await call(client, 'read_document', { document_id: 'doc-2002' });
    assert.equal(Object(document).title, 'Packing list for the mountains');
  });
  assert.deepEqual(accesses(folder.path), [
    { kind: 'search', query: 'SSN', document_ids: ['doc-2003'] },
    { kind: 'search', query: 'price LIST', document_ids: ['doc-2001', 'doc-2004'] },
    { kind: 'search', query: 'zebra', document_ids: [] },
    { kind: 'read', document_ids: ['doc-2002'] },
  ]);
});

test('an unknown document and bad arguments are refused', async () => {
  using folder = new TemporaryFolder();
  await withApp('drive', folder.path, async (client) => {
    assert.equal(
      await refusal(client, 'read_document', { document_id: 'doc-1' }),
      'there is no such document',
    );
    assert.match(
      await refusal(client, 'read_document', { document_id: '../drive.json' }),
      /of the format identifier/,
    );
    assert.match(await refusal(client, 'search_documents', {}), /\/query is required/);
  });
  assert.deepEqual(accesses(folder.path), []);
});
