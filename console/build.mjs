// Builds dist/: the page, and its script and styles with a hash of their content in their names.
import { build } from 'esbuild'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { basename } from 'node:path'

const out = new URL('dist/', import.meta.url).pathname
await rm(out, { recursive: true, force: true })
await mkdir(out, { recursive: true })

const result = await build({
  entryPoints: { console: 'src/main.tsx' },
  absWorkingDir: new URL('.', import.meta.url).pathname,
  bundle: true, minify: true, format: 'esm', target: ['es2022', 'chrome111', 'firefox113', 'safari16.4'],
  jsx: 'automatic', jsxImportSource: 'preact', legalComments: 'inline',
  outdir: out, entryNames: '[name]-[hash]', metafile: true, logLevel: 'warning',
})

const files = Object.keys(result.metafile.outputs).map((file) => basename(file))
const named = (extension) => files.find((file) => file.endsWith(extension))
let page = await readFile(new URL('src/index.html', import.meta.url), 'utf8')
page = page.replace('console.css', named('.css')).replace('console.js', named('.js'))
await writeFile(out + 'index.html', page)
await writeFile(out + 'icon.svg', await readFile(new URL('src/icon.svg', import.meta.url)))
