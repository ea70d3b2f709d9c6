import { ModeratoError, type ChatRule, type FieldError } from '@moderato-live/client'
import { mistakesOf, told, toldOf } from '../model/problems'

/**
 * reread reads again what somebody else changed meanwhile. What the user typed stays, and they
 * decide: the change is not repeated over that of the other. It tells a form which fields are wrong,
 * or the user which of several rules are.
 */
export async function reread<Result>(what: string, change: Promise<Result>, reload: (version: number) => void, wrong: ((fields: readonly FieldError[]) => void) | readonly ChatRule[] = []): Promise<Result> {
  try {
    return await change
  } catch (error) {
    if (!(error instanceof ModeratoError)) throw error
    const fields = mistakesOf(error)
    if (typeof wrong === 'function') wrong(fields)
    if (fields.length) throw new Error(typeof wrong === 'function' ? told(fields) : toldOf(fields, wrong), { cause: error })
    if (error.code !== 'VERSION_CONFLICT') throw error
    reload(Number(error.data.version))
    throw new Error(`Changed by somebody else meanwhile: the ${what} were read again. What you entered is kept. Compare, then save again.`)
  }
}
