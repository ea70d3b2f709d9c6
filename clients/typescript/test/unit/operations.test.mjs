import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { Moderato } from '../../dist/index.js'

const read = async (path) => JSON.parse(await readFile(new URL(path, import.meta.url), 'utf8'))
const { paths } = await read('../../../../docs/openapi/openapi.json')
const { resources, streams } = await read('../../../operations.json')

test('every operation of the API has a method', async () => {
  const found = new Set()
  for (const [path, item] of Object.entries(paths).filter(([path]) => path.startsWith('/v1/'))) {
    for (const [method, { operationId, tags: [tag] }] of Object.entries(item)) {
      found.add(operationId)
      let request
      const fetch = async (url, init) => {
        request = { method: init.method.toLowerCase(), path: new URL(url).pathname }
        return Response.json({ success: true, data: {} })
      }
      const moderato = new Moderato({ baseUrl: 'http://server', clientId: 'bot', fetch })
      if (streams[operationId]) {
        const [resource, name] = streams[operationId].split('.')
        await moderato[resource][name]()
      } else {
        await moderato[resources[tag] ?? tag[0].toLowerCase() + tag.slice(1)][operationId](path.includes('{') ? 'x' : {})
      }
      assert.deepEqual(request, { method, path: path.replace(/{\w+}/, 'x') }, operationId)
    }
  }
  assert.ok(found.size > 40)
  for (const name of Object.keys(streams)) assert.ok(found.has(name), `${name} is no operation`)
})
