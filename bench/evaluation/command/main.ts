/** The program behind `cordon bench`. */

import { EXIT, runCommand } from '@cordon/cli/program';
import { Command, CommanderError } from 'commander';
import { bench } from './bench.ts';

const program = new Command('cordon bench')
  .argument('[name]')
  .argument('[path...]')
  .description('measure protection, function and cost: a benchmark, `list` or `all`')
  .option('--quick', 'measure a sample, under two minutes per benchmark')
  .option('--out <folder>', 'folder for records and results (default: in the data folder)')
  .option('--data <folder>', 'folder of data that the repository does not contain')
  .option('--traces <folder>', 'protection, peers: other recorded traces')
  .option('--labels <file>', 'protection, peers: labels for the tools in those traces')
  .option('--pairs <file>', 'protection: other attack pairs for the demonstration model')
  .option('--plans <file>', 'protection: plans for the recorded traces, from `cordon bench plans <suites>`')
  .option('--part <name>', 'protection: only `recorded` or `obedient`')
  .option('--only <text>', 'only units whose key contains this text')
  .option('--every <number>', 'of these, a sample of about one in so many')
  .option('--model <provider/model>', 'protection, functionality, overhead: use a provider’s model')
  .option('--base-url <url>', 'address of an OpenAI-compatible server for the model')
  .option('--config <file>', 'configuration file for --model: providers and prices')
  .option('--max-calls <number>', 'with --model: limit the model calls of this run')
  .option(
    '--max-cost <amount>',
    'with --model: limit the cost of this run, using the `prices` in the configuration',
  )
  .option('--yes', 'with --model: start; without it the command only prints an estimate')
  .option('--replay <folder>', 'evaluate the saved answers of an earlier run with --model')
  .option('--go-on', 'also continue from records of another version of the code')
  .option('--again', 'measure again from the start')
  .option('--json', 'print one JSON object per line')
  .helpOption('-h, --help', 'show this help')
  .showHelpAfterError('  help: `cordon bench --help` lists arguments and options')
  .exitOverride()
  .action((name: string | undefined, paths: string[], { json, config, baseUrl, ...options }) =>
    runCommand({ json, config, baseUrl, model: options.model }, (context) =>
      bench(context, name ?? 'list', paths, options),
    ),
  );

try {
  await program.parseAsync();
} catch (error) {
  if (!(error instanceof CommanderError)) throw error;
  // commander has said what is wrong; help is no failure.
  process.exitCode = error.exitCode === 0 ? EXIT.done : EXIT.failed;
}
