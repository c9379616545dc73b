/** Two stories side by side in the terminal. Words of others in them are escaped. */
import type { Screen, Style } from '@cordon/console/text';
import { cellLines, padded } from '@cordon/print';

export interface Story {
  readonly title: string;
  readonly lines: readonly StoryLine[];
}

export interface StoryLine {
  readonly text: string;
  readonly style: Style;
}

/** Below this the two stories stand one after the other. */
const LEAST_BESIDE = 72;

/** Two stories side by side, title over each, wrapped in its half; one after the other on a narrow screen. */
export function renderBeside(screen: Screen, left: Story, right: Story): void {
  if (screen.width < LEAST_BESIDE) {
    for (const story of [left, right]) {
      screen.say('  ', story.title, 'bold');
      for (const line of story.lines) screen.say('    ', line.text, line.style);
      screen.line();
    }
    return;
  }
  const width = Math.floor((screen.width - 2 - 3 - 1) / 2);
  const columns = [left, right].map((story) => storyLines(story, width));
  const height = Math.max(...columns.map((lines) => lines.length));
  for (let line = 0; line < height; line++) {
    const [first, second] = columns.map((lines) => lines[line] ?? { text: '', style: 'plain' as const });
    if (first === undefined || second === undefined) continue;
    const start = screen.style(first.style, padded(first.text, width));
    screen.line(`  ${start} │ ${screen.style(second.style, second.text)}`.trimEnd());
  }
}

function storyLines(story: Story, width: number): StoryLine[] {
  const rule: StoryLine = { text: '─'.repeat(width), style: 'dim' };
  const body = story.lines.flatMap(({ text, style }) =>
    cellLines(text, width).map((line): StoryLine => ({ text: line, style })),
  );
  return [
    ...cellLines(story.title, width).map((text): StoryLine => ({ text, style: 'bold' })),
    rule,
    ...body,
  ];
}
