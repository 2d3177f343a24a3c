import { readFileSync } from 'node:fs';
import { SETTINGS } from '../src/base/config.ts';
import { cliFiles } from './generate-cli.ts';
import { clientFiles } from './generate-client.ts';
import { describeEveryDeployment } from './routes.ts';

/** Path → text of every checked-in file that is generated from the code. */
export async function generatedFiles(): Promise<Record<string, string>> {
  const document = await describeEveryDeployment();
  return {
    '.env.example': envExample(),
    'docs/configuration.md': configurationPage(),
    'openapi/atrium.json': `${JSON.stringify(document, null, 2)}\n`,
    ...clientFiles(document),
    ...(await cliFiles(readFileSync('src/authz/platform.fga', 'utf8'))),
  };
}

function envExample(): string {
  const settings = Object.entries(SETTINGS).map(
    ([name, { help, shape, fallback }]) => `# ${help}\n# ${shape}\n#${name}=${fallback ?? ''}\n`,
  );
  return [
    '# Made by `npm run generate` from src/base/config.ts. Copy to .env and uncomment what should differ from the default.',
    '# Any NAME may be given as NAME_FILE instead: the path of a file that holds the value.',
    '',
    settings.join('\n'),
  ].join('\n');
}

function configurationPage(): string {
  const rows = Object.entries(SETTINGS).map(
    ([name, { help, shape, fallback }]) =>
      `| \`${name}\` | ${cell(shape)} | ${fallbackCell(fallback)} | ${cell(help)} |`,
  );
  return `<!-- Made by \`npm run generate\` from src/base/config.ts. -->

# Configuration

Every setting is read from the environment, else from a file \`.env\` in the working directory, else it has its default. An
empty value counts as none. Any \`NAME\` may be given as \`NAME_FILE\` instead: the path of a file that holds the value, which is how
container secrets are mounted. The server refuses to start on a bad value and names all faults at once.

| name | value | default | meaning |
|---|---|---|---|
${rows.join('\n')}
`;
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}

function fallbackCell(fallback: string | undefined): string {
  return fallback === undefined || fallback === '' ? 'none' : `\`${fallback}\``;
}
