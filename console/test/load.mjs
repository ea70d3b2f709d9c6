import { build } from 'esbuild'

/** load bundles a module of the console, and imports it; each copy anew. */
export async function load(file, copy = 0) {
  const result = await build({
    entryPoints: [new URL(`../src/${file}`, import.meta.url).pathname], bundle: true, write: false, format: 'esm', platform: 'neutral',
    mainFields: ['module', 'main'], conditions: ['import'], jsx: 'automatic', jsxImportSource: 'preact',
  })
  return import(`data:text/javascript;base64,${Buffer.from(result.outputFiles[0].text).toString('base64')}#${copy}`)
}
