// Holds a JSON Feed against the schema of version 1.1; prints what does not fit.
import { createRequire } from 'node:module'
import Ajv from 'ajv'
import formats from 'ajv-formats'

const schema = createRequire(import.meta.url)('jsonfeed-schema/schema-v1.1.json')
const ajv = new Ajv({ strict: false, allErrors: true })
formats(ajv)
const valid = ajv.compile(schema)
const feed = await (await fetch(process.argv[2])).json()
valid(feed)
console.log(JSON.stringify({ items: feed.items?.length, errors: valid.errors ?? [] }))
