/** All case studies: those of the paper, and chains of our own. */
import type { CaseStudy } from './case-study.ts';
import { CHAIN_CASES } from './chains.ts';
import { PAPER_CASES } from './paper.ts';

export const CASE_STUDIES: readonly CaseStudy[] = [...PAPER_CASES, ...CHAIN_CASES];
