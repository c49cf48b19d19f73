// Writes every dashboard into the folder that it is given.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DashboardBuilder } from '@grafana/grafana-foundation-sdk/dashboard';
import { codecs } from './codecs.js';
import { coverage } from './coverage.js';
import { fleet } from './fleet.js';
import { kernels } from './kernels.js';
import { operation } from './operation.js';
import { pipeline } from './pipeline.js';

const SCREENS: Record<string, () => DashboardBuilder> = {
  fleet,
  kernels,
  operation,
  codecs,
  coverage,
  pipeline,
};

const folder = process.argv[2];
if (folder === undefined) {
  console.error('usage: build.js FOLDER');
  process.exit(2);
}
mkdirSync(folder, { recursive: true });
for (const [name, make] of Object.entries(SCREENS)) {
  const dashboard = make().build();
  // Ids that are there once and stay the same; null leaves the server its own.
  dashboard.panels?.forEach((panel, index) => (panel.id = index + 1));
  const text = JSON.stringify({ ...dashboard, id: null }, null, 2);
  writeFileSync(join(folder, `${name}.json`), `${text}\n`);
}
