// The licences of what esbuild put into a bundle: `licenses.mjs META.json OUT`.
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const [meta, out] = process.argv.slice(2);
const packages = new Set(
  Object.keys(JSON.parse(readFileSync(meta, 'utf8')).inputs)
    .map((file) => /^node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1])
    .filter((name) => name !== undefined),
);
const texts = [...packages].sort().map((name) => {
  const folder = join('node_modules', name);
  const about = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const file = readdirSync(folder).find((entry) => /^licen[sc]e/i.test(entry));
  if (file === undefined || !existsSync(join(folder, file))) {
    throw new Error(`${name} has no licence file`);
  }
  const text = readFileSync(join(folder, file), 'utf8').trim();
  return `${name} ${about.version} (${about.license})\n\n${text}\n`;
});
writeFileSync(out, `charts.js contains the following packages.\n\n${texts.join('\n----\n\n')}`);
