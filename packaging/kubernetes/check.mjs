// Holds the manifests beside this file to the schemas of Kubernetes and of the
// Prometheus operator (npm's kubernetes-models and prometheus-operator), and to a
// few things that a schema does not say. Exit status: 0, 1 with what is wrong.
import { readFileSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import ts from "typescript";
import { parseAllDocuments } from "yaml";

const require = createRequire(import.meta.url);
const folder = new URL(".", import.meta.url);

// The module of a kind, whose class has a validate() that throws.
function moduleOf({ apiVersion, kind }) {
  const packages = ["kubernetes-models", "@kubernetes-models/prometheus-operator"];
  for (const name of packages) {
    const path = `${name}/${apiVersion}/${kind}`;
    try {
      return { path, model: require(path)[kind] };
    } catch (error) {
      if (error.code !== "MODULE_NOT_FOUND" && error.code !== "ERR_PACKAGE_PATH_NOT_EXPORTED") throw error;
    }
  }
  throw new Error(`no schema for ${apiVersion} ${kind}`);
}

// The schemas take fields that they do not know; TypeScript, in an object that is
// written out, does not. What it says of `objects`, "" if nothing.
function unknownFields(objects) {
  const file = new URL("manifests.ts", folder).pathname;
  const text = objects.map((object, i) =>
    `import { I${object.kind} as T${i} } from "${moduleOf(object).path}";\n` +
    `export const o${i}: T${i} = ${JSON.stringify(object, null, 1)};`).join("\n");
  const options = { noEmit: true, strict: true, skipLibCheck: true, types: [] };
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists } = host;
  host.fileExists = (name) => name === file || fileExists(name);
  host.getSourceFile = (name, ...rest) => name === file
    ? ts.createSourceFile(name, text, ts.ScriptTarget.ES2020)
    : getSourceFile(name, ...rest);
  return ts.getPreEmitDiagnostics(ts.createProgram([file], options, host))
    .map((d) => ts.flattenDiagnosticMessageText(d.messageText, "\n"))
    .join("\n");
}

function check(object) {
  const { model } = moduleOf(object);
  new model(object).validate();
  if (!object.metadata?.name) throw new Error("it has no name");
  const pod = object.spec?.template?.spec;
  if (!pod) return;
  const labels = object.spec.template.metadata.labels;
  for (const [name, value] of Object.entries(object.spec.selector.matchLabels)) {
    if (labels[name] !== value) throw new Error(`it does not select its own pods by ${name}`);
  }
  const volumes = new Set([...(pod.volumes ?? []), ...(object.spec.volumeClaimTemplates ?? [])
    .map((claim) => claim.metadata)].map((volume) => volume.name));
  for (const container of pod.containers) {
    for (const mount of container.volumeMounts ?? []) {
      if (!volumes.delete(mount.name)) throw new Error(`${mount.name} is mounted but is no volume`);
    }
    if (container.securityContext?.privileged) throw new Error("a container is privileged");
    if (!container.securityContext?.capabilities?.drop?.includes("ALL")) {
      throw new Error("a container keeps capabilities that it was not given");
    }
    if (!container.resources?.limits?.memory) throw new Error("a container's memory has no limit");
  }
  if (volumes.size > 0) throw new Error(`nothing mounts ${[...volumes].join(", ")}`);
}

// A schema that takes everything would find nothing wrong.
function mustFail(object, change) {
  const changed = structuredClone(object);
  change(changed);
  try {
    check(changed);
  } catch {
    return;
  }
  throw new Error(`a wrong ${object.kind} is not found: ${change}`);
}

const objects = [];
let failed = 0;
for (const file of readdirSync(folder).filter((name) => name.endsWith(".yaml"))) {
  for (const document of parseAllDocuments(readFileSync(new URL(file, folder), "utf8"))) {
    const object = document.toJS();
    try {
      if (document.errors.length > 0) throw document.errors[0];
      check(object);
      mustFail(object, (o) => { o.metadata.name = 5; });
      if (object.spec?.template) {
        mustFail(object, (o) => { o.spec.template.spec.containers[0].image = {}; });
        mustFail(object, (o) => { delete o.spec.template.spec.volumes; });
      }
      console.log(`${file}: ${object.kind} ${object.metadata.name}`);
      objects.push(object);
    } catch (error) {
      console.log(`FAILED: ${file}: ${object?.kind}: ${error.message}`);
      failed += 1;
    }
  }
}
const misspelt = structuredClone(objects);
for (const object of misspelt) {
  const pod = object.spec?.template?.spec;
  if (pod) pod.containers[0].noSuchField = 1;
}
const wrong = [unknownFields(objects)].filter((text) => text !== "");
if (!unknownFields(misspelt).includes("noSuchField")) wrong.push("a misspelt field is not found");
for (const text of wrong) console.log(`FAILED: ${text}`);
console.log(`${objects.length} objects`);
process.exit(failed + wrong.length > 0 || objects.length === 0 ? 1 : 0);
