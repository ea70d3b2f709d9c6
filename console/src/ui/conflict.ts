import { ModeratoError, type FieldError } from '@moderato-live/client'

/**
 * reread reads again what somebody else changed meanwhile. What the user typed stays, and they
 * decide: the change is not repeated over that of the other. It tells which fields are wrong.
 */
export async function reread<Result>(what: string, change: Promise<Result>, reload: (version: number) => void, onProblems: (fields: readonly FieldError[]) => void = () => undefined): Promise<Result> {
  try {
    return await change
  } catch (error) {
    if (!(error instanceof ModeratoError)) throw error
    onProblems(error.fields)
    if (error.code !== 'VERSION_CONFLICT') throw error
    reload(Number(error.data.version))
    throw new Error(`Changed by somebody else meanwhile: the ${what} were read again. What you entered is kept. Compare, then save again.`)
  }
}
