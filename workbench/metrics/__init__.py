from workbench.base.deprecation import former_modules

former_modules(__name__, gap="workbench.operations.evaluation.gap")
