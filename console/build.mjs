// Builds dist/: the page, its script and its styles.
import { build } from 'esbuild'
import { copyFile, mkdir, rm } from 'node:fs/promises'

const out = new URL('dist/', import.meta.url).pathname
await rm(out, { recursive: true, force: true })
await mkdir(out, { recursive: true })

await build({
  entryPoints: { console: 'src/main.tsx' },
  absWorkingDir: new URL('.', import.meta.url).pathname,
  bundle: true, minify: true, format: 'esm', target: ['es2022', 'chrome111', 'firefox113', 'safari16.4'],
  jsx: 'automatic', jsxImportSource: 'preact', legalComments: 'inline',
  outdir: out, entryNames: '[name]', logLevel: 'warning',
})

for (const file of ['index.html', 'icon.svg']) await copyFile(new URL(`src/${file}`, import.meta.url), out + file)
