import { readFileSync } from 'node:fs';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import core from '@stoplight/spectral-core';
import parsers from '@stoplight/spectral-parsers';
import rulesets from '@stoplight/spectral-rulesets';

/**
 * Prints what the strictest rules of both linters have to say about a document, one line each. It runs where the
 * linters are installed.
 */
const say = (line) => {
  if (!OF_EVERY_RESPONSE.test(line)) process.stdout.write(`${line}\n`);
};
/** Headers that every response can have are described once, and no operation refers to them. */
const OF_EVERY_RESPONSE =
  /^(Spectral oas3-unused-component: components\.headers\.|Redocly no-unused-components: #\/components\/headers\/)/;
const text = readFileSync(process.argv[2] ?? '', 'utf8');

const spectral = new core.Spectral();
// All rules, but one: nobody answers for Atrium under an address that the document could name.
spectral.setRuleset({ extends: [[rulesets.oas, 'all']], rules: { 'contact-properties': 'off' } });
for (const { code, path, message } of await spectral.run(new core.Document(text, parsers.Yaml, 'atrium'))) {
  say(`Spectral ${code}: ${path.join('.')}: ${message}`);
}

// All errors of an operation are its default response, and x-errors lists their statuses.
const rules = { 'operation-4xx-response': 'off' };
const config = await createConfig({ extends: ['recommended-strict'], rules });
for (const { ruleId, location, message } of await lintFromString({ source: text, absoluteRef: 'atrium', config })) {
  say(`Redocly ${ruleId}: ${location[0]?.pointer}: ${message}`);
}
