// What a reader of paid APIs finds in the OpenAPI description, and what it warns of.
import { checkL2ForOpenAPI, getOpenAPI, getWarningsForOpenAPI, isOpenApiParseFailure } from '@agentcash/discovery'

const read = await getOpenAPI(process.argv[2])
const found = read.isOk?.() ? read.value : read
if (found === null || isOpenApiParseFailure(found)) throw new Error(JSON.stringify(found))
const { routes } = checkL2ForOpenAPI(found)
console.log(JSON.stringify({
  routes: routes.map(({ method, path, protocols, pricing }) => ({ method, path, protocols, pricing })),
  warnings: getWarningsForOpenAPI(found),
}))
