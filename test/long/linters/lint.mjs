import { readFileSync } from 'node:fs';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import core from '@stoplight/spectral-core';
import parsers from '@stoplight/spectral-parsers';
import rulesets from '@stoplight/spectral-rulesets';

/**
 * Prints what the strictest rules of both linters have to say about a document, one line each. It runs where the
 * linters are installed.
 */
const say = (line) => process.stdout.write(`${line}\n`);
const text = readFileSync(process.argv[2] ?? '', 'utf8');

const spectral = new core.Spectral();
// All rules, but one: nobody answers for Atrium under an address that the document could name.
spectral.setRuleset({ extends: [[rulesets.oas, 'all']], rules: { 'contact-properties': 'off' } });
for (const { code, path, message } of await spectral.run(new core.Document(text, parsers.Yaml, 'atrium'))) {
  say(`Spectral ${code}: ${path.join('.')}: ${message}`);
}

const config = await createConfig({ extends: ['recommended-strict'] });
for (const { ruleId, location, message } of await lintFromString({ source: text, absoluteRef: 'atrium', config })) {
  say(`Redocly ${ruleId}: ${location[0]?.pointer}: ${message}`);
}
