"""
Upcasts: recorded arguments carried to a newer version of their tool, where that is proved to change only the form.

`proof.prove(upcast, old, new)` says from the schemas alone whether a file's step is pure format; `certificate.Step`
certifies one record; `chain.Upcasts(catalog).carry(...)` goes from step to step. All pure. Loaded when a call of
another version is met: the prover costs time that no other program should pay.
"""
