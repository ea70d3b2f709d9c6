// Writes src/schema.ts and src/operations.ts from the OpenAPI document.
import { readFile, writeFile } from 'node:fs/promises'
import openapiTypeScript, { astToString } from 'openapi-typescript'

const read = async (path) => JSON.parse(await readFile(new URL(path, import.meta.url), 'utf8'))
const document = await read('../../docs/openapi/openapi.json')
const { resources, streams } = await read('../operations.json')

const notice = '// Generated from docs/openapi/openapi.json by generate.mjs; do not edit.\n'
const quote = (text) => `'${text}'`
const upper = (name) => name[0].toUpperCase() + name.slice(1)
const nameOf = (ref) => ref.split('/').at(-1)

/** operationsOf returns the operations of the API, with the resource of each. */
function operationsOf() {
  const all = []
  for (const [path, item] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(item)) {
      if (!path.startsWith('/v1/') || !operation.operationId) continue
      const [tag] = operation.tags
      const resource = resources[tag] ?? tag[0].toLowerCase() + tag.slice(1)
      all.push({ ...operation, id: operation.operationId, path, method: method.toUpperCase(), resource })
    }
  }
  return all
}

/** comment returns a TSDoc comment. */
function comment(text, isDeprecated, indent = '') {
  const lines = text.trim().replaceAll('*/', '*\\/').split('\n')
  if (isDeprecated) lines.push('', '@deprecated')
  if (lines.length === 1) return `${indent}/** ${lines[0]} */\n`
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}`.trimEnd() + '\n').join('')}${indent} */\n`
}

function dataOf(operation) {
  const data = operation.responses[200].content['application/json'].schema.properties.data
  if (!data) return 'void'
  return data.$ref ? nameOf(data.$ref) : `${nameOf(data.items.$ref)}[]`
}

function methodOf(operation) {
  const { id, method } = operation
  const { arguments: variables, path } = pathOf(operation)
  const data = dataOf(operation)
  const head = comment(operation.description ?? operation.summary, operation.deprecated, '  ')
  if (method !== 'GET') {
    const body = nameOf(operation.requestBody.content['application/json'].schema.$ref)
    const isOptional = !document.components.schemas[body].required?.length
    const parameters = `${variables}body: ${body}${isOptional ? ' = {}' : ''}, options?: RequestOptions`
    return `${head}  ${id}(${parameters}): Promise<${data}> {\n    return this.send(${quote(method)}, ${path}, body, options)\n  }\n`
  }
  const query = queryOf(operation)
  if (query.length === 0) return `${head}  ${id}(${variables}options?: RequestOptions): Promise<${data}> {\n    return this.get(${path}, {}, options)\n  }\n`
  const parameters = `${variables}query: Query<'${id}'>${query.some((parameter) => parameter.required) ? '' : ' = {}'}, options?: RequestOptions`
  const limit = query.find((parameter) => parameter.name === 'limit')?.schema.maximum
  const isList = limit !== undefined && query.some((parameter) => parameter.name === 'cursor')
  return isList
    ? `${head}  ${id}(${parameters}): List<${data}> {\n    return this.list(${path}, query, ${limit}, options)\n  }\n`
    : `${head}  ${id}(${parameters}): Promise<${data}> {\n    return this.get(${path}, query, options)\n  }\n`
}

/** pathOf returns the parameters in the path of an operation, and the path with their values. */
function pathOf({ path, parameters }) {
  const names = parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name)
  if (names.length === 0) return { arguments: '', path: quote(path) }
  const filled = path.replaceAll(/\{(\w+)\}/g, '${encodeURIComponent($1)}')
  return { arguments: names.map((name) => `${name}: string, `).join(''), path: `\`${filled}\`` }
}

const queryOf = (operation) => operation.parameters.filter((parameter) => parameter.in === 'query')

/** payloadsOf returns the schema of the payload of each event type. */
function payloadsOf() {
  return document.components.schemas.Event.anyOf.map(({ $ref }) => {
    const { metadata, payload } = document.components.schemas[nameOf($ref)].properties
    const type = metadata.allOf.find((part) => part.properties).properties.subscriptionType.const
    return [type, nameOf(payload.$ref)]
  })
}

/** schemasOf returns the names of the schemas that a part of the document needs. */
function schemasOf(part, found = new Set()) {
  if (part === null || typeof part !== 'object') return found
  if (part.$ref?.includes('/schemas/') && !found.has(nameOf(part.$ref))) {
    found.add(nameOf(part.$ref))
    schemasOf(document.components.schemas[nameOf(part.$ref)], found)
  }
  Object.values(part).forEach((value) => schemasOf(value, found))
  return found
}

/** used returns the part of the document that methods have in their types. */
function used() {
  const paths = {}
  for (const operation of operations) {
    const { id: operationId, path, method, requestBody, responses } = operation
    const { schema } = responses[200].content['application/json']
    paths[path] ??= {}
    paths[path][method.toLowerCase()] = {
      operationId, parameters: queryOf(operation), requestBody,
      responses: { 200: { description: '', content: { 'application/json': { schema } } } },
    }
  }
  const payloads = payloadsOf().map(([, name]) => ({ $ref: `#/components/schemas/${name}` }))
  const names = [...schemasOf([paths, payloads]), 'ErrorCode', 'EventMetadata'].sort()
  const schemas = Object.fromEntries(names.map((name) => [name, document.components.schemas[name]]))
  return { openapi: document.openapi, info: document.info, paths, components: { schemas } }
}

const operations = operationsOf().filter(({ id }) => !streams[id])
const groups = new Map()
for (const operation of operations) groups.set(operation.resource, [...(groups.get(operation.resource) ?? []), operation])
const needed = used()

let source = notice + `import { EventsResource, Resource } from './resource.js'
import type { List } from './paging.js'
import type { components, operations } from './schema.js'
import type { RequestOptions, Transport } from './transport.js'

type Schemas = components['schemas']

/** The query of an operation, in which lists are named without \`[]\`. */
type Query<Id extends keyof operations> = Lists<NonNullable<operations[Id]['parameters']['query']>>
type Lists<Parameters> = { [Name in keyof Parameters as Name extends \`\${infer Plain}[]\` ? Plain : Name]: Parameters[Name] }

/** What identifies an event. Live events have no \`sequence\`. */
export type EventMetadata = Omit<Schemas['EventMetadata'], 'sequence'> & { sequence?: number }

/** The payload of each type of events. */
export interface EventPayloads {
${payloadsOf().map(([type, name]) => `  ${quote(type)}: ${name}\n`).join('')}}

`
for (const name of Object.keys(needed.components.schemas).filter((name) => name !== 'EventMetadata')) source += `export type ${name} = Schemas[${quote(name)}]\n`
for (const [resource, members] of groups) {
  const base = resource === 'events' ? 'EventsResource' : 'Resource'
  source += `\n/** Operations: ${resource}. */\nexport class ${upper(resource)} extends ${base} {\n${members.map(methodOf).join('\n')}}\n`
}
source += '\n/** All operations. */\nexport class Resources {\n'
for (const resource of groups.keys()) source += `  readonly ${resource}: ${upper(resource)}\n`
source += '\n  /** @internal */\n  constructor(transport: Transport) {\n'
for (const resource of groups.keys()) source += `    this.${resource} = new ${upper(resource)}(transport)\n`
source += '  }\n}\n'

const schema = astToString(await openapiTypeScript(needed, { alphabetize: false, defaultNonNullable: false }))
await writeFile(new URL('src/schema.ts', import.meta.url), notice + schema)
await writeFile(new URL('src/operations.ts', import.meta.url), source)
