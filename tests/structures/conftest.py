from hypothesis import settings

# A busy machine must not turn a correct test red.
settings.register_profile("structures", deadline=None)
settings.load_profile("structures")
