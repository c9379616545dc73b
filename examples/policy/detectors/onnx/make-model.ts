/**
 * Writes `model.onnx`: a logistic regression over ten words, made by hand. It stands for a real classifier of the same form; no
 * weight of anybody else is in it.
 *
 *     node examples/policy/detectors/onnx/make-model.ts FILE
 */
import { writeFileSync } from 'node:fs';
import { WORDS } from './words.mjs';

/** How much each word says for an order to an agent, in the order of `WORDS`, and what an empty text starts from. */
const WEIGHTS = [2.5, 1.5, 2, 1.5, 1.5, 2, 1.5, 1, -1.5, -2];
const START = -2.5;

/** Protocol Buffers: a field with a number, and one with bytes. */
const varint = (value: number): number[] =>
  value < 128 ? [value] : [(value & 127) | 128, ...varint(value >>> 7)];
const number = (field: number, value: number): number[] => [...varint(field << 3), ...varint(value)];
const bytes = (field: number, content: readonly number[]): number[] => [
  ...varint((field << 3) | 2),
  ...varint(content.length),
  ...content,
];
const text = (field: number, content: string): number[] =>
  bytes(field, [...new TextEncoder().encode(content)]);
const floats = (values: readonly number[]): number[] => [...new Uint8Array(new Float32Array(values).buffer)];

/** onnx.proto: TensorProto, NodeProto, ValueInfoProto. 1 is FLOAT. */
const tensor = (name: string, shape: readonly number[], values: readonly number[]): number[] => [
  ...shape.flatMap((size) => number(1, size)),
  ...number(2, 1),
  ...text(8, name),
  ...bytes(9, floats(values)),
];
const node = (operator: string, inputs: readonly string[], output: string): number[] => [
  ...inputs.flatMap((input) => text(1, input)),
  ...text(2, output),
  ...text(4, operator),
];
const value = (name: string, shape: readonly number[]): number[] => {
  const dimensions = shape.flatMap((size) => bytes(1, number(1, size)));
  return [...text(1, name), ...bytes(2, bytes(1, [...number(1, 1), ...bytes(2, dimensions)]))];
};

const graph = [
  ...bytes(1, node('MatMul', ['words', 'weights'], 'sum')),
  ...bytes(1, node('Add', ['sum', 'start'], 'moved')),
  ...bytes(1, node('Sigmoid', ['moved'], 'score')),
  ...text(2, 'orders'),
  ...bytes(5, tensor('weights', [WORDS.length, 1], WEIGHTS)),
  ...bytes(5, tensor('start', [1], [START])),
  ...bytes(11, value('words', [1, WORDS.length])),
  ...bytes(12, value('score', [1, 1])),
];
/** ModelProto: IR version 8, operators of version 13. */
const model = [...number(1, 8), ...bytes(7, graph), ...bytes(8, number(2, 13))];

writeFileSync(process.argv[2] ?? 'model.onnx', Uint8Array.from(model));
