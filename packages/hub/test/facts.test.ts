import assert from 'node:assert/strict';
import { test } from 'node:test';
import { factsIn } from '../src/facts.ts';

test('the personal data of figure 7 are found as the user typed them', () => {
  const query =
    'I want to schedule an appointment. Here is some of my personal information: name = Michael Smith, date of birth = May 20th, 1980, city = Irvine, email address = michael.smith@email.com. Symptoms = Recent heart surgery and ongoing issues with controlled hypertension, along with asthma. Other details = I want to schedule an appointment on June 1st. Please try to arrange the most advanced service for me.';
  assert.deepEqual(factsIn(query), [
    { name: 'name', value: 'Michael Smith' },
    { name: 'date of birth', value: 'May 20th, 1980' },
    { name: 'city', value: 'Irvine' },
    { name: 'email address', value: 'michael.smith@email.com' },
    {
      name: 'symptoms',
      value: 'Recent heart surgery and ongoing issues with controlled hypertension, along with asthma',
    },
    { name: 'other details', value: 'I want to schedule an appointment on June 1st' },
  ]);
});

test('statements about oneself are facts', () => {
  assert.deepEqual(factsIn('By the way, my home city is Turin, and it rains.'), [
    { name: 'home city', value: 'Turin' },
  ]);
});

test('ordinary talk states no facts', () => {
  assert.deepEqual(factsIn('Summarize the newest email for me.'), []);
});

test('what stands beyond the first 4,000 characters was pasted, and states no facts', () => {
  assert.deepEqual(factsIn(`${'a '.repeat(3_000)}. name = Mallory`), []);
});
